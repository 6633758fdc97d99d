// What the benchmark `budget` and the provider's script have to agree on.

export const CHILDREN = 50;
export const CALLS_A_CHILD = 4;
/** What one of their answers uses, and at most. */
export const CHILD_OUTPUT_TOKENS = 100;
