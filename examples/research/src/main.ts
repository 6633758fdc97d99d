// What `perdure start examples/research/src/main.ts` serves.

import { label, settings } from "./desk.ts";
import { describeSettings } from "./settings.ts";

export { researcher, writer } from "./agent.ts";

console.log(describeSettings(settings, label, process.pid));
