// What `perdure start examples/research/src/main.ts` serves.

import "./greeting.ts";

export { researcher, writer } from "./agent.ts";
