// Run ids as commands take them: whole, or as much of one as names a single run.

export { findRun as resolveRunId } from "../run-lookup.ts";
