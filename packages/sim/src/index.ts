export { Checkers } from "./checkers/all.ts";
export type { Observation, Violation } from "./observations.ts";
export type { Sabotage } from "./sim-host.ts";
export type { TraceSink } from "./trace.ts";
export { runWorld, type WorldOptions, type WorldReport } from "./world.ts";
