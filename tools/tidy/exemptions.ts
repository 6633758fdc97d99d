// Where a house rule is not kept, and why: the register of our debts. An exemption that is no longer needed fails, too.

import type { Violation } from "./tree.ts";

export interface Exemption {
  /** The rule's name. */
  readonly rule: string;
  readonly path: string;
  readonly reason: string;
}

export const EXEMPTIONS: readonly Exemption[] = [
  {
    rule: "protocol, engine and sdk have no environment",
    path: "packages/agents/src/tools/mcp/stdio-transport.ts",
    reason:
      "starts programs, which is all that it is for; it is loaded when an agent names one, and never in a simulation",
  },
];

/** What is left of a rule's violations, as lines to read, together with the exemptions that excuse nothing. */
export function judge(
  rule: string,
  violations: readonly Violation[],
  exemptions: readonly Exemption[],
): readonly string[] {
  const mine = exemptions.filter((exemption) => exemption.rule === rule);
  const left = violations.filter(({ path }) => !mine.some((exemption) => exemption.path === path));
  const unused = mine.filter((exemption) => !violations.some(({ path }) => path === exemption.path));
  return [
    ...left.map(({ path, line, message }) => `${path}:${line} ${message}`),
    ...unused.map(({ path }) => `${path} needs no exemption from "${rule}" any more: remove it`),
  ];
}
