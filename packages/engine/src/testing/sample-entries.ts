// One entry of every kind and every command, with each of their optional fields both there and absent.

import type { Command, Entry, Failure, Result } from "@perdure/protocol";
import { runIdOf, value } from "./store-harness.ts";

const FAILURE: Failure = { code: 409, message: "nein ☃", errorCode: "P0002", metadata: { k: "v" } };
const BYTES: Uint8Array = new Uint8Array([0, 1, 254, 255]);
const RESULTS: readonly Result[] = [
  value('{"a":1}'),
  value(BYTES),
  value(""),
  value(new Uint8Array(0)),
  { kind: "void" },
  { kind: "failure", failure: FAILURE },
];

export const SAMPLE_COMMANDS: readonly Command[] = [
  { type: "step", name: "charge" },
  { type: "step", name: "", atMostOnce: true },
  { type: "step", name: "ask", into: "log" },
  { type: "step", name: "perdure.safePoint/idle", safePoint: { point: "idle", kept: [3, 9], awakeables: 18 } },
  { type: "step", name: "ask", atMostOnce: true, into: "" },
  { type: "sleep", wakeAt: 5_000 },
  { type: "sleep", name: "nap", wakeAt: 6_000 },
  { type: "call", target: { service: "a", handler: "b" }, input: null },
  {
    type: "call",
    name: "n",
    target: { service: "a", handler: "b", key: "☃" },
    input: BYTES,
    headers: { h: "1" },
    idempotencyKey: "i",
  },
  { type: "send", target: { service: "a", handler: "b" }, input: '"x"' },
  {
    type: "send",
    name: "n",
    target: { service: "a", handler: "b", key: "" },
    input: "",
    headers: {},
    idempotencyKey: "",
    invokeAt: 9,
  },
  { type: "getQueue" },
  { type: "getState", key: "s" },
  { type: "getStateKeys" },
  { type: "setState", key: "s", value: "[1]" },
  { type: "setState", key: "", value: BYTES },
  { type: "clearState", key: "s" },
  { type: "clearAllState" },
  { type: "getPromise", key: "p" },
  { type: "peekPromise", key: "p" },
  ...RESULTS.map((completion): Command => ({ type: "completePromise", key: "p", completion })),
  ...RESULTS.map(
    (payload, i): Command => ({ type: "sendSignal", run: runIdOf(8), signal: i % 2 === 0 ? "go" : 17 + i, payload }),
  ),
  { type: "attach", ref: { run: runIdOf(4) } },
  { type: "attach", ref: { target: { service: "a", handler: "b", key: "k" }, idempotencyKey: "i" } },
  { type: "output", ref: { workflow: "w", key: "k" } },
  { type: "append", stream: "log ☃", count: 3 },
  { type: "readStream", stream: "log", from: 0 },
  { type: "streamLength", stream: "" },
  { type: "trimStream", stream: "log", before: 7 },
  ...RESULTS.map((completion): Command => ({ type: "completeAwakeable", awakeable: "sign_1abc", completion })),
];

/** A journal that has them all, with indexes and command ids as they must be. */
export function sampleJournal(): Entry[] {
  const entries: Entry[] = [];
  const next = (): { index: number; at: number } => ({ index: entries.length + 1, at: 3_000 + entries.length });
  let id = 0;
  for (const command of SAMPLE_COMMANDS) {
    id += 1;
    entries.push({ kind: "command", ...next(), id, command, ...(id % 3 === 0 ? { child: runIdOf(100 + id) } : {}) });
  }
  for (const result of RESULTS) {
    id += 1;
    entries.push({ kind: "command", ...next(), id, command: { type: "step", name: "fused" }, result });
  }
  id += 1;
  const safePoint = { point: "idle", kept: [], awakeables: 17 };
  const command = { type: "step", name: "perdure.safePoint/idle", safePoint } as const;
  entries.push({ kind: "command", ...next(), id, command, result: value("[]") });
  RESULTS.forEach((result, i) => entries.push({ kind: "completion", ...next(), id: i + 1, result }));
  RESULTS.forEach((payload, i) =>
    entries.push({ kind: "signal", ...next(), signal: i % 2 === 0 ? 17 : "näme", payload }),
  );
  entries.push({ kind: "signal", ...next(), signal: 1, payload: { kind: "void" } });
  entries.push({ kind: "signal", ...next(), signal: "", payload: { kind: "void" } });
  entries.push({ kind: "retry", ...next(), id: 1, tries: 2, failure: FAILURE, retryAt: 7 });
  entries.push({ kind: "retry", ...next(), id: 0, tries: 1, failure: { code: 500, message: "" } });
  entries.push({ kind: "resumed", ...next() });
  entries.push({ kind: "resumed", ...next(), forget: 3 });
  const about = { point: "idle", from: null, to: "d2", before: null };
  const before = { entry: 1, commands: 1, told: 2, point: "", kept: [], awakeables: 17, at: 5 };
  for (const state of RESULTS) entries.push({ kind: "resumed", ...next(), migrated: { ...about, state } });
  const again = { ...about, from: "d1", to: null, state: RESULTS[0] as Result, before };
  entries.push({ kind: "resumed", ...next(), migrated: again });
  return entries;
}

/** Commands in a journal up to an entry, as `appendEntry` wants to know. */
export function countCommands(entries: readonly Entry[], upTo: number): number {
  return entries.filter((entry) => entry.kind === "command" && entry.index <= upTo).length;
}
