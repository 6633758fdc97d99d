// What `perdure start examples/research/src/main.ts` serves.

import { describeSettings } from "./settings.ts";
import { model, settings } from "./desk.ts";

export { research, researcher, writer } from "./agent.ts";

console.log(describeSettings(settings, model.label, process.pid));
