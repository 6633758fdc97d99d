// What a person gives a forked session to go on with: other instructions, fewer tools. It comes as the note of the fork, and
// holds for as long as the session lives.

import { FORK_SIGNAL } from "@perdure/protocol";

export { FORK_SIGNAL };

export interface ForkChanges {
  /** In the place of the agent's own. */
  readonly instructions?: string;
  /** Only these of its tools, by name. */
  readonly tools?: readonly string[];
}

/** What of a note is meant for agents; the rest of it is for nobody here. */
export function readForkChanges(note: unknown): ForkChanges {
  if (typeof note !== "object" || note === null) return {};
  const { instructions, tools } = note as { readonly instructions?: unknown; readonly tools?: unknown };
  return {
    ...(typeof instructions === "string" ? { instructions } : {}),
    ...(Array.isArray(tools) ? { tools: tools.filter((name) => typeof name === "string") } : {}),
  };
}

/** Of the tools, those that are left. */
export function leftOf<Tool>(
  tools: Readonly<Record<string, Tool>>,
  changes: ForkChanges | undefined,
): Record<string, Tool> {
  const left = changes?.tools;
  if (left === undefined) return { ...tools };
  return Object.fromEntries(Object.entries(tools).filter(([name]) => left.includes(name)));
}
