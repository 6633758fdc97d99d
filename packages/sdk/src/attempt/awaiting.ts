// What has to happen from outside before code that waits can go on.

import type { Awaiting } from "@perdure/protocol";
import type { Signals } from "./signals.ts";
import type { Wait } from "./wait.ts";

/** Null where one of the waits goes on by itself, and where there is nothing that could wake the code. */
export function awaitingOf(waits: Iterable<Wait>, signals: Signals | undefined): Awaiting[] | null {
  const list: Awaiting[] = [];
  for (const wait of waits) {
    const awaiting = wait.awaiting();
    if (awaiting === undefined) return null;
    list.push(awaiting);
  }
  if (signals !== undefined) list.push(...signals.awaiting());
  return list.length === 0 ? null : list;
}
