// Which switch for writes holds for a session: of those that speak of it the most restrictive counts.

import type { ControlView } from "@perdure/protocol";

export type WriteMode = ControlView["writes"];

const STRICTNESS: readonly WriteMode[] = ["allow", "ask", "deny"];

export interface Switch {
  /** What holds. */
  readonly holding: ControlView;
  /** What is said of this very session. */
  readonly own: ControlView;
}

export function switchFor(controls: readonly ControlView[], agent: string, session: string): Switch {
  const name = `${agent}/${session}`;
  const said = ["*", agent, name].map(
    (key): ControlView => controls.find((one) => one.key === key) ?? { key, writes: "allow" },
  );
  const own = said.at(-1) ?? { key: name, writes: "allow" };
  // Of equally strict ones the session's own, which can be changed here.
  const holding = said.reduce((one, other) => (strictness(other) >= strictness(one) ? other : one));
  return { holding, own };
}

function strictness({ writes }: ControlView): number {
  return STRICTNESS.indexOf(writes);
}
