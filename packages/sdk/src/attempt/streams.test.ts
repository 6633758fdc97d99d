import { ItemsTrimmedError, type Kept, type Result } from "@perdure/protocol";
import { describe, expect } from "vitest";
import { it as test } from "../../test/both-modes.ts";
import { Conversation, step } from "../../test/conversation.ts";
import type { Context } from "../context/context.ts";
import type { StepInfo } from "../context/options.ts";
import { shared } from "../definitions/handler.ts";
import { object, service } from "../definitions/service.ts";

const serviceOf = (go: (ctx: Context) => Promise<unknown>) => service("svc", { go });
const list = (items: string): Result => ({ kind: "value", value: items });
const KEPT: Kept = { stream: "log", from: 0, count: 1, form: "list" };

describe("what code asks of a stream", () => {
  test("appends are said with their items, and wait for nothing", async () => {
    const talk = new Conversation(
      serviceOf(async (ctx) => {
        const log = ctx.stream<unknown>("log");
        log.append({ a: 1 }, new Uint8Array([7]));
        log.append();
        log.trim(3);
        return [await log.length(), await log.read(2)];
      }),
    );
    expect(await talk.heard()).toEqual([
      ["command", 1, "append", ['{"a":1}', new Uint8Array([7])]],
      ["command", 2, "trimStream"],
      ["command", 3, "streamLength"],
    ]);
    talk.notify({ kind: "command", id: 3, command: { type: "streamLength", stream: "log" }, result: list("5") });
    expect(await talk.heard()).toEqual([["command", 4, "readStream"]]);
    const command = { type: "readStream", stream: "log", from: 2 } as const;
    talk.notify({ kind: "command", id: 4, command, result: list('[{"base64":"Bw=="},true]'), kept: KEPT });
    expect(await talk.heard()).toEqual([["end", [5, [{ base64: "Bw==" }, true]]]]);
  });

  test("on replay an append is compared by stream and count, and sends nothing", async () => {
    const go = (count: number, name = "log") =>
      serviceOf(async (ctx) => {
        ctx.stream(name).append(...Array.from({ length: count }, (_, i) => i));
        ctx.stream("log").append("new");
      });
    const recorded = [
      { kind: "command", id: 1, command: { type: "append", stream: "log", count: 2 }, result: list("0") },
    ] as const;
    const same = new Conversation(go(2), { entries: recorded });
    expect(await same.heard()).toEqual([
      ["command", 2, "append", ['"new"']],
      ["end", undefined],
    ]);
    for (const [other, now] of [
      [go(3), 'append  stream="log" count=3'],
      [go(2, "tale"), 'append  stream="tale" count=2'],
    ] as const) {
      const [said] = await new Conversation(other, { entries: recorded }).heard();
      expect(said?.slice(0, 4)).toEqual(["error", "pause", 1, "P0016"]);
      expect(String(said?.[4])).toContain(`recorded  append  stream="log" count=2\n  now       ${now}`);
      expect(String(said?.[4])).toContain("streams.test.ts");
    }
  });

  test("a read whose items were trimmed pauses the run before its code sees anything (P0038)", async () => {
    let seen: unknown = "nothing";
    const talk = new Conversation(
      serviceOf(async (ctx) => {
        seen = await ctx
          .stream("log")
          .read()
          .catch((error: unknown) => error);
      }),
      {
        entries: [
          {
            kind: "command",
            id: 1,
            command: { type: "readStream", stream: "log", from: 0 },
            result: { kind: "failure", failure: new ItemsTrimmedError("gone").toFailure() },
            kept: KEPT,
          },
        ],
      },
    );
    expect(await talk.heard()).toEqual([["error", "pause", 1, "P0038", "gone"]]);
    expect(seen).toBe("nothing");
  });

  test("what JSON cannot hold, no offset and no name are refused, and no command is counted", async () => {
    const codes: string[] = [];
    const attempt = (call: () => unknown): void => {
      try {
        call();
      } catch (error) {
        codes.push((error as { code: string }).code);
      }
    };
    const talk = new Conversation(
      serviceOf(async (ctx) => {
        attempt(() => ctx.stream("log").append("fine", undefined));
        attempt(() => ctx.stream("log").append(1n));
        attempt(() => ctx.stream(""));
        attempt(() => ctx.stream("log").read(-1));
        attempt(() => ctx.stream("log").trim(0.5));
      }),
    );
    expect(await talk.heard()).toEqual([["end", undefined]]);
    expect(codes).toEqual(["P0020", "P0020", "P0034", "P0034", "P0034"]);
  });

  test("a shared handler may append and read, and not trim", async () => {
    const definition = object("obj", {
      go: shared(async (ctx) => {
        ctx.stream("log").append(1);
        ctx.stream("log").trim(1);
      }),
    });
    const said = await new Conversation(definition, { key: "k" }).heard();
    expect(said.map(([what]) => what)).toEqual(["command", "end"]);
    expect(said[1]?.[1]).toMatchObject({ failure: "P0018" });
  });
});

describe("what a step writes", () => {
  test("goes out once a tick, with the try that wrote it, and before the result", async () => {
    const talk = new Conversation(
      serviceOf((ctx) =>
        ctx.step(
          "s",
          async (info) => {
            const tokens = info.stream("tokens");
            tokens.write("a", "b");
            info.stream("other").write(1);
            tokens.write("c");
            await new Promise((resolve) => setImmediate(resolve));
            tokens.write("d");
            return "done";
          },
          { into: "log" },
        ),
      ),
    );
    expect(await talk.heard()).toEqual([
      ["command", 1, "step s"],
      ["append", "tokens", ['"a"', '"b"', '"c"'], "1.1"],
      ["append", "other", ["1"], "1.1"],
      ["append", "tokens", ['"d"'], "1.1"],
      ["propose", 1, "done"],
    ]);
  });

  test("a synchronous step's is out before its result, too", async () => {
    const talk = new Conversation(serviceOf((ctx) => ctx.step("s", ({ stream }) => stream("tokens").write("a"))));
    expect(await talk.heard()).toEqual([
      ["command", 1, "step s"],
      ["append", "tokens", ['"a"'], "1.1"],
      ["propose", 1, undefined],
    ]);
  });

  test("S3: a try that is over is not heard any more, and the next one has a name of its own", async () => {
    const infos: StepInfo[] = [];
    const talk = new Conversation(
      serviceOf((ctx) =>
        ctx.step("s", (info) => {
          infos.push(info);
          info.stream("tokens").write(info.attempt);
          if (info.attempt === 1) throw new Error("once more");
          infos[0]?.stream("tokens").write("late");
          return info.attempt;
        }),
      ),
    );
    const retried = (await talk.heard()).map(([what, ...rest]) => [what, rest[0]]);
    expect(retried).toEqual([
      ["command", 1],
      ["append", "tokens"],
      ["retrying", 1],
    ]);
    await talk.advance(10_000);
    expect(await talk.heard()).toEqual([
      ["append", "tokens", ["2"], "1.2"],
      ["propose", 1, 2],
    ]);
    infos[1]?.stream("tokens").write("after the end");
    expect(await talk.heard()).toEqual([]);
  });

  test("an attempt that is over writes nothing", async () => {
    let write: ((text: string) => void) | undefined;
    const talk = new Conversation(
      serviceOf((ctx) =>
        ctx.step("s", (info) => {
          write = (text) => info.stream("tokens").write(text);
          return new Promise(() => undefined);
        }),
      ),
    );
    await talk.heard();
    write?.("in the tick of the abort");
    talk.attempt.abort("host goes");
    write?.("later");
    expect(await talk.heard()).toEqual([]);
  });

  test("replays write nothing", async () => {
    const talk = new Conversation(
      serviceOf((ctx) => ctx.step("s", ({ stream }) => stream("tokens").write("a"), { into: "log" })),
      { entries: [step(1, "s", "before")] },
    );
    expect(await talk.heard()).toEqual([["end", "before"]]);
  });
});
