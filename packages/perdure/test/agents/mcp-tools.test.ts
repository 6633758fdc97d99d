// The tools of MCP servers: real ones, as child processes and over HTTP on the loopback interface.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import {
  agent,
  mcpTools,
  type AgentAnswer,
  type AgentDefinition,
  type AgentOptions,
  type McpToolsOptions,
  type OfferedTool,
  type ScriptedToolCall,
  type ToolItem,
  type ToolSource,
  type TranscriptItem,
} from "@perdure/agents";
import { jsonSchema } from "ai";
import { crashAtEveryEntry, scriptedModel, TestWorld, type ScriptedModel } from "perdure/testing";
import { afterEach, describe, expect, test } from "vitest";
import { Core, startHttpServer, TOOLS } from "./mcp-server.ts";

const program = join(import.meta.dirname, "mcp-server.ts");
const stdio = { command: process.execPath, args: [program] };

const open: ToolSource[] = [];
afterEach(() => Promise.all(open.splice(0).map((source) => source.close())));

function source(server: Parameters<typeof mcpTools>[1], options?: McpToolsOptions): ToolSource {
  const made = mcpTools("test", server, options);
  open.push(made);
  return made;
}

/** Makes these calls in each turn, and then answers. */
const caller = (...calls: readonly ScriptedToolCall[]): ScriptedModel =>
  scriptedModel(({ messages }) => {
    if (messages.at(-1)?.role !== "user" || calls.length === 0) return "Done.";
    return { toolCalls: calls.map((call, i) => ({ id: `m${messages.length}c${i}`, ...call })) };
  });

const helper = (
  model: ScriptedModel,
  tools: AgentOptions["tools"],
  more: Partial<AgentOptions> = {},
): AgentDefinition => agent("helper", { model, ...(tools === undefined ? {} : { tools }), ...more });

async function turn(world: TestWorld, number = 1): Promise<AgentAnswer> {
  const run = await world.submit({ service: "helper", key: "s1", handler: "send" }, `message ${number}`, `m${number}`);
  const result = await world.finish(run);
  if (result?.kind !== "value") throw new Error(`no answer: ${JSON.stringify(result)}`);
  return JSON.parse(String(result.value)) as AgentAnswer;
}

async function itemsOf<T>(world: TestWorld, stream: string): Promise<readonly T[]> {
  const items = await world.stream({ service: "helper", key: "s1" }, stream);
  return items.map(({ payload }) => JSON.parse(String(payload)) as T);
}

async function resultsOf(world: TestWorld): Promise<readonly ToolItem[]> {
  const items = await itemsOf<TranscriptItem>(world, "transcript");
  return items.filter((item) => item.type === "tool");
}

const open1 = (definition: AgentDefinition): Promise<TestWorld> => new TestWorld({ services: [definition] }).open();

describe("an agent with the tools of a server", () => {
  test("shows them to its model under the source's name, and calls them", async () => {
    const model = caller({ name: "test_echo", input: { text: "hello" } }, { name: "test_note", input: { text: "x" } });
    const world = await open1(helper(model, [source(stdio, { exclude: ["hang"] })]));
    await turn(world);
    expect(model.requests[0]?.tools).toEqual([
      ...["test_crash", "test_echo", "test_issues_list_all", "test_note", "test_refuse"],
    ]);
    const [echo, note] = await resultsOf(world);
    expect(echo).toMatchObject({ name: "test_echo", outcome: "ok", output: "hello" });
    expect(note).toMatchObject({ outcome: "ok", output: { noted: "x" } });
  });

  test.each(["stdio", "http"])("sends each call with the idempotency key of its step (%s)", async (how) => {
    await using http = await startHttpServer();
    const model = caller({ name: "test_note", input: { text: "x" } });
    const world = await open1(helper(model, [source(how === "http" ? { url: http.url } : stdio)]));
    await turn(world);
    const [run] = await world.runs();
    const journal = await world.journal(run?.id ?? ("" as never));
    const step = journal.find(
      (entry) => entry.kind === "command" && entry.command.type === "step" && entry.command.name === "tool test_note",
    );
    const key = step?.kind === "command" ? `${run?.id}-${step.id}` : "";
    const [note] = await resultsOf(world);
    expect(note?.output).toMatchObject({ noted: "x", input: ["text"], meta: { "perdure/idempotencyKey": key } });
  });

  test("keeps a list that does not change once, and its hash in each turn's journal", async () => {
    await using http = await startHttpServer();
    const world = await open1(helper(caller(), [source({ url: http.url })]));
    const stepsOf = async (): Promise<readonly string[]> => {
      const last = (await world.runs()).findLast(({ service }) => service === "helper");
      const journal = last === undefined ? [] : await world.journal(last.id);
      const stored = [...world.memory.storage.data.runs.values()].map(({ entries }) => entries);
      expect(JSON.stringify(stored)).not.toContain("Says it again.");
      return journal.flatMap((entry) =>
        entry.kind === "command" && entry.command.type === "step" ? [entry.command.name] : [],
      );
    };
    await turn(world, 1);
    expect(await stepsOf()).toEqual(["tools test", "new tools test", "model scripted/model"]);
    await turn(world, 2);
    expect(await stepsOf()).toEqual(["tools test", "model scripted/model"]);
    expect(await itemsOf(world, "tools/test")).toHaveLength(1);
    http.core.tools = TOOLS.slice(0, 1);
    await turn(world, 3);
    expect(await stepsOf()).toContain("new tools test");
    expect(await itemsOf(world, "tools/test")).toMatchObject([{ tools: [{ name: "echo" }] }]);
    expect(http.core.initialized).toBe(1); // One connection for all of it.
  });

  test.each([
    [{ include: ["echo", "no*"] }, ["test_echo", "test_note"]],
    [{ include: ["*"], exclude: ["*e*", "hang"] }, ["test_crash"]],
  ])("has only those that are wanted: %j", async (options, expected) => {
    const model = caller();
    await turn(await open1(helper(model, [source(stdio, options)])));
    expect(model.requests[0]?.tools).toEqual(expected);
  });

  test.each([
    ["write by default, whatever the server says", undefined, ["denied", "denied"]],
    ["as the server hints, where it is believed", "hints", ["ok", "denied"]],
    ["by name", { note: "read" }, ["denied", "ok"]],
  ] as const)("has them %s", async (_, kind, outcomes) => {
    const model = caller({ name: "test_echo", input: { text: "a" } }, { name: "test_note", input: { text: "b" } });
    const tools = [source(stdio, kind === undefined ? {} : { kind })];
    const world = await open1(helper(model, tools, { writes: "deny" }));
    await turn(world);
    const results = (await resultsOf(world)).toSorted((a, b) => (a.name < b.name ? -1 : 1));
    expect(results.map(({ outcome }) => outcome)).toEqual(outcomes);
  });

  test("goes on with the list that it knows while the server is away, and tells the model of calls that fail", async () => {
    await using http = await startHttpServer();
    const model = caller();
    const world = await open1(helper(model, [source({ url: http.url })]));
    await turn(world, 1);
    http.status = 503;
    await turn(world, 2);
    expect(model.requests[1]?.tools).toEqual(model.requests[0]?.tools);
  });

  test("goes on without the tools of an optional server that was never there; else it waits for them", async () => {
    await using http = await startHttpServer();
    http.status = 503;
    const model = caller();
    await turn(await open1(helper(model, [source({ url: http.url }, { optional: true })])));
    expect(model.requests[0]?.tools).toEqual([]);

    const patient = await open1(helper(model, [source({ url: http.url })]));
    const run = await patient.submit({ service: "helper", key: "s1", handler: "send" }, "wait", "m1");
    await patient.advance(60_000);
    expect((await patient.run(run))?.status).not.toBe("failed");
    http.status = undefined;
    expect((await patient.finish(run))?.kind).toBe("value");
    expect(model.requests.at(-1)?.tools).toHaveLength(TOOLS.length);
  });

  test("has the same tools on every replay, though the server says others each time (O1)", async () => {
    let asked = 0;
    const moody: ToolSource = {
      source: "moody",
      optional: false,
      offered: () => {
        asked += 1;
        const tools: OfferedTool[] = [{ name: `t${asked}`, inputSchema: { type: "object" }, kind: "read" }];
        return Promise.resolve(tools);
      },
      toolset: ({ tools }) =>
        Object.fromEntries(
          tools.map(({ name, inputSchema }) => [
            `moody_${name}`,
            { inputSchema: jsonSchema(inputSchema), kind: "read" as const, execute: () => name },
          ]),
        ),
      close: () => Promise.resolve(),
    };
    const model = scriptedModel(({ messages, tools }) => {
      const last = messages.at(-1);
      return last?.role === "user"
        ? { toolCalls: [{ name: tools[0] ?? "", input: {} }] }
        : `It is ${tools[0]}: ${last?.text}`;
    });
    const report = await crashAtEveryEntry({
      services: [agent("helper", { model, tools: [moody] })],
      target: { service: "helper", key: "s1", handler: "send" },
      input: "What have you?",
      reset: () => (asked = 0),
      // Which number it is depends on how often a lost list was asked for again; that all agree on it does not.
      same: (_, actual) => {
        const { text } = JSON.parse(String((actual as { value: string }).value)) as AgentAnswer;
        return /^It is moody_(t\d+): \1$/.test(text);
      },
    });
    expect(report.crashes).toBeGreaterThan(10);
  });
});

describe("a call that fails", () => {
  const call = async (server: Parameters<typeof mcpTools>[1], name: string, options: McpToolsOptions = {}) => {
    const world = await open1(helper(caller({ name, input: {} }), [source(server, options)]));
    await turn(world);
    const [item] = await resultsOf(world);
    return item;
  };

  test("of itself is told to the model, and not made again", async () => {
    await using http = await startHttpServer();
    expect(await call({ url: http.url }, "test_refuse")).toMatchObject({
      outcome: "error",
      output: "there is no paper",
    });
    expect(await call({ url: http.url }, "test_issues_list_all")).toMatchObject({
      outcome: "error",
      output: expect.stringContaining("there is no tool issues.list/all (code -32602)"),
    });
    expect(http.core.calls).toHaveLength(2);
  });

  test.each(["stdio", "http"])(
    "with the connection (%s) is made again where it only looks, by a new one",
    async (how) => {
      await using http = await startHttpServer();
      // A process that died has forgotten that it did: it dies each time.
      const expected = how === "http" ? { outcome: "ok", output: "well" } : { outcome: "error" };
      const item = await call(how === "http" ? { url: http.url } : stdio, "test_crash", { kind: "read" });
      expect(item).toMatchObject(expected);
      if (how === "stdio") expect(item?.output).toContain("the server ended with code 7");
    },
  );

  test.each(["stdio", "http"])(
    "with the connection (%s) is not made again where it writes: the model is told that nobody knows",
    async (how) => {
      await using http = await startHttpServer();
      const item = await call(how === "http" ? { url: http.url } : stdio, "test_crash");
      expect(item).toMatchObject({
        outcome: "error",
        output: expect.stringContaining("It may have been carried out, or not"),
      });
      if (how === "http") expect(http.core.calls).toHaveLength(1);
    },
  );

  test("for its time is told as such", async () => {
    await using http = await startHttpServer();
    const item = await call({ url: http.url }, "test_hang", { timeout: "1s" });
    expect(item).toMatchObject({
      outcome: "error",
      output: expect.stringContaining("it did not answer within 1000 ms. It may have been carried out, or not"),
    });
    expect(http.core.calls).toHaveLength(1);
  });

  test("for a session that the server has forgotten is made again in a new one", async () => {
    await using http = await startHttpServer();
    const forgetting = caller({ name: "test_note", input: { text: "x" } });
    const world = await open1(helper(forgetting, [source({ url: http.url })], { onTurn: () => http.sessions.clear() }));
    await turn(world);
    expect((await resultsOf(world))[0]).toMatchObject({ outcome: "ok" });
    expect(http.core.initialized).toBe(2);
    expect(http.core.calls).toHaveLength(1);
  });

  test("for a server that dies at its start says what it said", async () => {
    const dying = source({ ...stdio, env: { MCP_FAILS: "1" } });
    const asked = dying.offered({ signal: new AbortController().signal });
    await expect(asked).rejects.toThrow(/the server ended with code 3; it said: no configuration was found/);
  });

  test("for a program that does not exist ends the turn, with its name", async () => {
    const world = await open1(helper(caller(), [source({ command: "no-such-program" })]));
    const run = await world.submit({ service: "helper", key: "s1", handler: "send" }, "Go.", "m1");
    const failure = { message: expect.stringContaining("no-such-program") as string };
    expect(await world.finish(run)).toMatchObject({ kind: "failure", failure });
  });

  test("for want of permission says what to check", async () => {
    await using http = await startHttpServer();
    http.status = 401;
    const asked = source({ url: http.url }).offered({ signal: new AbortController().signal });
    await expect(asked).rejects.toThrow(/does not let this runtime in \(HTTP 401\): check the headers/);
  });
});

describe("a transport of one's own", () => {
  const signal = new AbortController().signal;

  test("is made anew by its function after it was closed, and nobody notices", async () => {
    const core = new Core();
    const made: { onclose?: () => void }[] = [];
    const inMemory = (): ReturnType<Extract<Parameters<typeof mcpTools>[1], () => unknown>> => {
      const transport: ReturnType<typeof inMemory> = {
        start: () => Promise.resolve(),
        close: () => Promise.resolve(),
        send: (message) => {
          const answer = core.answer(message as Parameters<Core["answer"]>[0]);
          if (typeof answer === "object") queueMicrotask(() => transport.onmessage?.(answer as typeof message));
          return Promise.resolve();
        },
      };
      made.push(transport);
      return transport;
    };
    const tools = source(inMemory);
    expect(await tools.offered({ signal })).toHaveLength(TOOLS.length);
    expect(await tools.offered({ signal })).toHaveLength(TOOLS.length);
    expect(made).toHaveLength(1);
    made[0]?.onclose?.();
    expect(await tools.offered({ signal })).toHaveLength(TOOLS.length);
    expect(made).toHaveLength(2);
  });
});

describe("a server that is a child process", () => {
  const pidOf = async (tools: ToolSource, hash: string): Promise<number> => {
    const offered = await tools.offered({ signal: new AbortController().signal });
    const note = tools.toolset({ hash, tools: offered })["test_note"];
    const info = {
      toolCallId: "c",
      abortSignal: new AbortController().signal,
      idempotencyKey: "k",
      attempt: 1,
      messages: [],
      progress: () => undefined,
    };
    const noted = (await note?.execute?.({ text: "x" }, info)) as { readonly pid: number } | undefined;
    return noted?.pid ?? 0;
  };

  test("is one for all that ask, and another once it has ended", async () => {
    const tools = source(stdio);
    const [one, two] = await Promise.all([pidOf(tools, "1"), pidOf(tools, "2")]);
    expect(one).toBe(two);
    process.kill(one, "SIGKILL");
    await expect.poll(() => isAlive(one)).toBe(false);
    await expect.poll(() => pidOf(tools, "1").catch(() => one)).not.toBe(one);
  });

  test("does not see the secrets of this process (P3)", async () => {
    process.env["MCP_FAILS"] = "not for it";
    try {
      expect(await pidOf(source(stdio), "1")).toBeGreaterThan(0);
    } finally {
      delete process.env["MCP_FAILS"];
    }
  });

  test("may write what it likes between its answers (P4)", async () => {
    expect(await pidOf(source({ ...stdio, env: { MCP_NOISY: "1" } }), "1")).toBeGreaterThan(0);
  });

  test("that does not end with its input is made to when it is closed", async () => {
    const tools = source({ ...stdio, env: { MCP_STUBBORN: "1" } });
    const pid = await pidOf(tools, "1");
    await tools.close();
    expect(isAlive(pid)).toBe(false);
  });

  const stubborn = { ...stdio, env: { MCP_STUBBORN: "1" } };
  test.each([
    ["has nothing left to do", stubborn, ""],
    ["is killed", stdio, "setInterval(() => {}, 1000); process.kill(process.pid, 'SIGKILL');"],
    ["exits", stubborn, "process.exit(0);"],
  ])("keeps no process alive, and ends with one that %s (P1, P2)", async (_, server, then) => {
    const script = `
      import { mcpTools } from "@perdure/agents";
      const tools = mcpTools("test", ${JSON.stringify(server)});
      const signal = new AbortController().signal;
      const offered = await tools.offered({ signal });
      const note = tools.toolset({ hash: "1", tools: offered }).test_note;
      const { pid } = await note.execute({ text: "x" }, { abortSignal: signal, idempotencyKey: "k" });
      console.log(pid);
      ${then}`;
    const args = ["--conditions=perdure-source", "--input-type=module", "--eval", script];
    const child = spawn(process.execPath, args, { cwd: import.meta.dirname, stdio: ["ignore", "pipe", "inherit"] });
    let printed = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
    await once(child, "exit");
    const pid = Number(printed);
    expect(pid).toBeGreaterThan(0);
    await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false);
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe("what cannot be meant is refused when it is defined", () => {
  test.each([
    ["a name that no tool could begin with", () => mcpTools("a b", stdio), /letters, digits/],
    ["a pattern that is none", () => mcpTools("a", stdio, { include: [""] }), /no tool's name/],
    ["two sources of one name", () => helper(caller(), [mcpTools("a", stdio), mcpTools("a", stdio)]), /two sources/],
    [
      "two tools of one name",
      () =>
        helper(caller(), [
          { t: { inputSchema: {} as never, execute: () => 1 } },
          { t: { inputSchema: {} as never, execute: () => 1 } },
        ]),
      /two tools that are called "t"/,
    ],
  ])("%s", (_, define, message) => {
    expect(define).toThrow(message);
  });
});
