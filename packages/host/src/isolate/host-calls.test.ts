import { describe, expect, test } from "vitest";
import { HostFunctionMissingError, TerminalError } from "@perdure/protocol";
import { INFO } from "@perdure/sdk/host-side";
import { callHost, type HostFunction } from "./host-calls.ts";

interface Seen {
  readonly appended: unknown[];
  readonly controller: AbortController;
}

async function call(
  fn: HostFunction | undefined,
  args: readonly unknown[] = [],
  seen: Seen = { appended: [], controller: new AbortController() },
): ReturnType<typeof callHost> {
  const functions = new Map<string, HostFunction>([["src/desk.ts#other", () => null]]);
  if (fn !== undefined) functions.set("src/desk.ts#hands", fn);
  return callHost(functions, "src/desk.ts#hands", args, {
    replies: { append: (...all) => void seen.appended.push(all) },
    signal: seen.controller.signal,
  });
}

describe("what a guest gets of a function", () => {
  test.each([
    ["a value", { a: [1, "x"] }, { a: [1, "x"] }],
    ["a promise of one", Promise.resolve(5), 5],
    ["nothing", undefined, undefined],
    ["what JSON makes of it", { at: new Date(0), gone: undefined }, { at: "1970-01-01T00:00:00.000Z" }],
    ["bytes, as they are", new Uint8Array([1, 255]), new Uint8Array([1, 255])],
  ])("%s", async (_, given, value) => {
    const outcome = await call(() => given);
    expect(outcome.kind).toBe("value");
    expect((outcome as { readonly value: unknown }).value ?? undefined).toEqual(value);
  });

  test("its error: the name, what it says of trying again, and the class where it is one of ours", async () => {
    const later = Object.assign(new RangeError("too many"), { retryAfter: 2_000 });
    expect(await call(() => Promise.reject(later))).toMatchObject({
      kind: "failure",
      name: "RangeError",
      failure: { message: "too many" },
      retryAfterMs: 2_000,
    });
    const thrown = await call(() => {
      throw new TerminalError("for good", { status: 409 });
    });
    expect(thrown).toMatchObject({ kind: "failure", failure: { code: 409, errorCode: TerminalError.code } });
    expect(await call(() => Promise.reject("a text"))).toMatchObject({ kind: "failure", name: "Error" });
  });

  test("a result that JSON cannot hold is an error that names the function", async () => {
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    const outcome = await call(() => cycle);
    expect(outcome).toMatchObject({ kind: "failure" });
    expect(JSON.stringify(outcome)).toContain("what src/desk.ts#hands gave");
  });

  test("a function that is not there pauses the run, and says what is there", async () => {
    const outcome = await call(undefined);
    expect(outcome).toMatchObject({ kind: "failure", failure: { errorCode: HostFunctionMissingError.code } });
    expect(JSON.stringify(outcome)).toContain(
      "calls hands of src/desk.ts, which this deployment does not have: it exports other",
    );
    const nowhere = await callHost(new Map(), "gone.ts#f", [], {
      replies: { append: () => undefined },
      signal: new AbortController().signal,
    });
    expect(JSON.stringify(nowhere)).toContain("no such module is loaded here");
  });
});

describe("a step's info among the arguments", () => {
  const wire = { [INFO]: { command: 4, attempt: 2, idempotencyKey: "run-4" } };

  test("is one here too: its key, its try, a signal, and streams that are written as that try", async () => {
    const seen: Seen = { appended: [], controller: new AbortController() };
    const outcome = await call(
      (first, info) => {
        const { idempotencyKey, attempt, signal, stream } = info as {
          idempotencyKey: string;
          attempt: number;
          signal: AbortSignal;
          stream: (name: string) => { write(...items: readonly unknown[]): void };
        };
        stream("tokens").write("a", { b: 1 });
        seen.controller.abort("enough");
        stream("tokens").write("not heard");
        return [first, idempotencyKey, attempt, signal.aborted];
      },
      ["plain", wire],
      seen,
    );
    expect(outcome).toEqual({ kind: "value", value: ["plain", "run-4", 2, true] });
    expect(seen.appended).toEqual([["tokens", ['"a"', '{"b":1}'], "4.2"]]);
  });
});
