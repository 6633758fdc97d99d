// Calls of host functions, as the host carries them out.

import type { CallWord, WireHandle } from "@perdure/sdk/wire";
import { describe, expect, test } from "vitest";
import { HostCall, type HostFunction } from "./host-calls.ts";

interface Made {
  readonly call: HostCall;
  readonly said: CallWord[];
  readonly appended: unknown[];
}

function callOf(fn: HostFunction, args: readonly unknown[], handles: readonly WireHandle[] = []): Made {
  const said: CallWord[] = [];
  const appended: unknown[] = [];
  const ports = {
    functions: new Map([["desk.ts#fn", fn]]),
    values: new Map<string, unknown>([["desk.ts#since", new Date(0)]]),
    replies: { append: (...append: readonly unknown[]) => void appended.push(append) },
    say: (word: CallWord) => void said.push(word),
  };
  return { call: new HostCall({ target: "desk.ts#fn", args, handles }, ports), said, appended };
}

const progress: WireHandle = { at: [0, "progress"], kind: "callback", callback: 0 };
const signal: WireHandle = { at: [0, "signal"], kind: "signal", signal: { number: 0 } };
const info: WireHandle = {
  at: [0],
  kind: "info",
  command: 4,
  attempt: 2,
  idempotencyKey: "run_1-4",
  signal: { number: 0 },
};

describe("an argument that is no data", () => {
  test("is put where the guest says that it stood; data is never taken for one", async () => {
    const { call, said } = callOf(
      (given, forged) => {
        (given as { progress(at: object): void }).progress({ at: 1 });
        return forged;
      },
      [{}, { progress: { kind: "callback", callback: 0 }, "~info": { command: 1 } }],
      [progress],
    );
    const outcome = await call.run();
    expect(said).toEqual([{ kind: "callback", callback: 0, args: [{ at: 1 }] }]);
    expect(outcome).toMatchObject({ kind: "value", value: { progress: { kind: "callback", callback: 0 } } });
  });

  test("may be a value of a host module", async () => {
    const { call } = callOf(
      (since) => (since as Date).getTime(),
      [null],
      [{ at: [0], kind: "value", reference: "desk.ts#since" }],
    );
    expect(await call.run()).toEqual({ kind: "value", value: 0 });
  });

  test("fires as the guest's signal does, with the reason; one that has fired before is born so", async () => {
    const waits: HostFunction = (given) => {
      const { signal: heard } = given as { readonly signal: AbortSignal };
      return new Promise((_, reject) => {
        if (heard.aborted) reject(heard.reason as Error);
        heard.addEventListener("abort", () => reject(heard.reason as Error));
      });
    };
    const late = callOf(waits, [{}], [signal]);
    const ending = late.call.run();
    late.call.fired(0, { name: "TimeoutError", message: "too slow" });
    expect(await ending).toMatchObject({ kind: "failure", name: "TimeoutError", failure: { message: "too slow" } });
    const fired = { number: 0, reason: { name: "AbortError", message: "interrupt" } };
    const early = callOf(waits, [{}], [{ at: [0, "signal"], kind: "signal", signal: fired }]);
    expect(await early.call.run()).toMatchObject({ kind: "failure", name: "AbortError" });
  });
});

test("H1: after its end, and after its attempt's, nothing is said or written", async () => {
  let late: ((at: number) => void) | undefined;
  const { call, said } = callOf(
    (given) => void (late = (given as { progress: typeof late }).progress),
    [{}],
    [progress],
  );
  await call.run();
  late?.(1);
  expect(said).toEqual([]);

  const writes = Promise.withResolvers<void>();
  const stopped = callOf(
    async (given) => {
      await writes.promise;
      (given as { stream(name: string): { write(item: object): void } }).stream("events").write({});
    },
    [null],
    [info],
  );
  const ending = stopped.call.run();
  stopped.call.abort("the attempt is over");
  writes.resolve();
  await ending;
  expect(stopped.appended).toEqual([]);
});

test("an error of ours says what its class decides, another keeps its name", async () => {
  const { call } = callOf(() => {
    throw Object.assign(new RangeError("no"), { retryAfter: 500 });
  }, []);
  expect(await call.run()).toMatchObject({ kind: "failure", name: "RangeError", retryAfterMs: 500 });
  const missing = new HostCall(
    { target: "desk.ts#gone", args: [], handles: [] },
    { functions: new Map(), values: new Map(), replies: { append: () => undefined }, say: () => undefined },
  );
  expect(await missing.run()).toMatchObject({ kind: "failure", retry: "pause", failure: { errorCode: "P0103" } });
});
