import { describe, expect, test } from "vitest";
import type { StepInfo } from "@perdure/sdk/host-side";
import { HostFunctionMissingError, TerminalError } from "@perdure/protocol";
import type { CallWord, WireHandle } from "@perdure/sdk/wire";
import { HostCall, type HostFunction } from "./host-calls.ts";

const TARGET = "src/desk.ts#hands";

interface Begun {
  readonly call: HostCall;
  readonly outcome: ReturnType<HostCall["run"]>;
  readonly appended: unknown[];
  readonly said: CallWord[];
}

function begin(
  functions: Readonly<Record<string, HostFunction>>,
  args: readonly unknown[] = [],
  handles: readonly WireHandle[] = [],
): Begun {
  const appended: unknown[] = [];
  const said: CallWord[] = [];
  const call = new HostCall(
    { target: TARGET, args, handles },
    {
      functions: new Map(Object.entries(functions)),
      values: new Map(),
      replies: { append: (...all: unknown[]) => void appended.push(all) },
      say: (word) => void said.push(word),
    },
  );
  return { call, outcome: call.run(), appended, said };
}

const call = (fn: HostFunction): ReturnType<HostCall["run"]> =>
  begin({ "src/desk.ts#other": () => null, [TARGET]: fn }).outcome;

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
    const outcome = await begin({ "src/desk.ts#other": () => null }).outcome;
    expect(outcome).toMatchObject({ kind: "failure", failure: { errorCode: HostFunctionMissingError.code } });
    expect(JSON.stringify(outcome)).toContain(
      "calls hands of src/desk.ts, which this deployment does not have: it exports other",
    );
    expect(JSON.stringify(await begin({}).outcome)).toContain("no such module is loaded here");
  });

  test("what it yields, piece by piece, until the attempt is over", async () => {
    const gate = Promise.withResolvers<void>();
    const begun = begin({
      [TARGET]: async function* () {
        yield 1;
        yield { two: 2 };
        await gate.promise;
        yield 3;
      },
    });
    await new Promise((resolve) => void setImmediate(resolve));
    expect(begun.said).toEqual([
      { kind: "item", value: 1 },
      { kind: "item", value: { two: 2 } },
    ]);
    begun.call.abort("over");
    gate.resolve();
    expect(await begun.outcome).toEqual({ kind: "done" });
    expect(begun.said).toHaveLength(2);
  });
});

describe("a step's info among the arguments", () => {
  test("is one here too: its key, its try, a signal, and streams that are written as that try", async () => {
    const info: WireHandle = {
      at: [1],
      kind: "info",
      command: 4,
      attempt: 2,
      idempotencyKey: "run-4",
      signal: { number: 1 },
    };
    const gate = Promise.withResolvers<void>();
    const begun = begin(
      {
        [TARGET]: async (first, given) => {
          const { idempotencyKey, attempt, signal, stream } = given as StepInfo;
          stream("tokens").write("a", { b: 1 });
          await gate.promise;
          stream("tokens").write("not heard");
          return [first, idempotencyKey, attempt, signal.aborted];
        },
      },
      ["plain", null],
      [info],
    );
    begun.call.fired(1, { name: "AbortError", message: "enough" });
    gate.resolve();
    expect(await begun.outcome).toEqual({ kind: "value", value: ["plain", "run-4", 2, true] });
    expect(begun.appended).toEqual([["tokens", ['"a"', '{"b":1}'], "4.2"]]);
  });
});
