// A guest of a few lines, for tests of what is around it: no bundler, no SDK. What it is told to do comes as the values of
// calls that ended.

import { encodeRunId } from "@perdure/protocol";
import { GUEST } from "@perdure/sdk/wire";
import type { GuestEvent, Outbox, WireStart } from "@perdure/sdk/wire";
import { loadEngine, type Engine } from "../engine.ts";
import { encodeBase, type BaseImage } from "../image-codec.ts";
import type { Instance, InstanceLimits } from "../instance.ts";
import { makeBase } from "../make-base.ts";

const CODE = `
  const kept = new Map();
  let outbox = { messages: [], awaiting: null, imageableAt: null };
  const say = (message) => outbox.messages.push({ type: "log", level: "info", message });
  const acts = {
    keep: ({ name, text }) => void kept.set(name, "<" + text + ">"),
    drop: ({ name }) => void kept.delete(name),
    say: ({ name }) => say(kept.get(name) ?? "nothing"),
    grow: ({ name, bytes }) => void kept.set(name, new Uint8Array(bytes)),
    loop: () => { for (;;); },
    recurse: ({ depth }) => { const go = (n) => (n === 0 ? 0 : 1 + go(n - 1)); say(String(go(depth))); },
    wait: ({ at }) => { outbox.awaiting = []; outbox.imageableAt = at; },
  };
  globalThis.${GUEST} = {
    turn(text) {
      const event = JSON.parse(text);
      if (event.type === "callEnded") acts[event.outcome.value.act](event.outcome.value);
      if (event.type === "yield") outbox.messages.push({ type: "suspend", awaiting: [], entriesSeen: 0 });
    },
    settle() {
      const said = JSON.stringify(outbox);
      outbox = { messages: [], awaiting: null, imageableAt: null };
      return said;
    },
  };
`;

export type Act =
  | { readonly act: "keep"; readonly name: string; readonly text: string }
  | { readonly act: "drop" | "say"; readonly name: string }
  | { readonly act: "grow"; readonly name: string; readonly bytes: number }
  | { readonly act: "loop" }
  | { readonly act: "recurse"; readonly depth: number }
  | { readonly act: "wait"; readonly at: number };

export const LIMITS: InstanceLimits = { turnMs: 60_000, memoryBytes: 64 * 1_048_576 };

export async function smallBase(mark = ""): Promise<{ readonly engine: Engine; readonly base: BaseImage }> {
  const engine = await loadEngine();
  const made = makeBase(engine, { code: `${CODE}\n/* ${mark} */ globalThis.mark = "${mark}";`, hash: "ab".repeat(32) });
  return { engine, base: { ...made, hash: encodeBase(made).hash } };
}

export function does(act: Act): GuestEvent {
  return { type: "callEnded", now: 0, call: 1, outcome: { kind: "value", value: act } };
}

/** The texts that it says. */
export function told(instance: Instance, act: Act): readonly string[] {
  return textsOf(instance.turn(does(act)));
}

function textsOf({ messages }: Outbox): readonly string[] {
  return messages.flatMap((message) => (message.type === "log" ? [message.message] : []));
}

export const START: WireStart = {
  run: encodeRunId(new Uint8Array(24)),
  service: "small",
  handler: "run",
  key: null,
  mode: "service",
  input: null,
  headers: {},
  idempotencyKey: null,
  generation: 0,
  createdAt: 0,
  tries: 0,
  deployment: null,
  origin: null,
  migrated: null,
  entries: [],
  state: null,
};
