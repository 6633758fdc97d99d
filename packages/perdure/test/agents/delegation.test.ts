// Sub-agents, approvals, permissions, budgets, structured output, compaction: an agent with all that binds it, without and
// with a crash at every entry.

import { agent, subagent, tool, type AgentAnswer } from "perdure";
import { crashAtEveryEntry, scriptedModel, TestWorld, type Script } from "perdure/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { eventsOf, heard, storyOf, transcriptOf, valueOf } from "./agent-world.ts";

const target = (name: string, key = "s1") => ({ service: name, key, handler: "send" });

/** Calls the tool once with the input, then tells what came of it. */
function callsOnce(name: string, input: unknown): Script {
  return ({ messages }) => {
    const result = messages.findLast(({ role }) => role === "tool");
    return result === undefined ? { toolCalls: [{ name, input }] } : `It said: ${result.text}`;
  };
}

describe("sub-agents", () => {
  const writer = () =>
    agent("writer", { model: scriptedModel(({ messages }) => `A text on ${messages.at(-1)?.text}`) });

  test("a parent waits for its child's answer", async () => {
    const wrote = writer();
    const lead = agent("lead", {
      model: scriptedModel(callsOnce("delegate", { task: "tides" })),
      tools: { delegate: subagent(wrote) },
    });
    const report = await crashAtEveryEntry({
      services: [lead, wrote],
      target: target("lead"),
      input: "write",
      observe: async (world) => [await storyOf(world, "lead"), await storyOf(world, "writer", "s1/writer-call_1")],
    });
    expect(valueOf<AgentAnswer>(report.result).text).toBe("It said: A text on [From lead]\ntides");
  });

  test("a child in the background tells of its end, exactly once, and wakes a parent that had ended its turn", async () => {
    const script: Script = (request) => {
      const said = heard(request);
      if (said.some((line) => line.includes("has ended")))
        return `Noticed: ${said.filter((line) => line.startsWith("[The sub-agent")).length}`;
      return request.messages.some(({ role }) => role === "tool")
        ? "started it"
        : { toolCalls: [{ name: "delegate", input: { task: "tides" } }] };
    };
    const slow = agent("slow", {
      model: scriptedModel(callsOnce("nap", {})),
      tools: {
        nap: tool({ kind: "read", inputSchema: z.object({}), run: (ctx) => ctx.sleep("2d") }),
      },
    });
    const lead = agent("lead", {
      model: scriptedModel(script),
      tools: { delegate: subagent(slow, { background: true }) },
    });
    const world = await new TestWorld({ services: [lead, slow] }).open();
    const run = await world.submit(target("lead"), "go");
    expect(valueOf<AgentAnswer>(await world.finish(run)).text).toBe("started it");
    await world.advance(3 * 86_400_000);
    const story = await storyOf(world, "lead");
    expect(story.filter((line) => line.startsWith("message"))).toHaveLength(2);
    expect(story.at(-1)).toBe('assistant "Noticed: 1"');
  });

  test("an end is told once, however often it is watched", async () => {
    const lead = agent("lead", { model: scriptedModel(() => "heard") });
    const world = await new TestWorld({ services: [lead, writer()] }).open();
    const run = await world.submit(target("writer", "s1/child"), "write");
    await world.finish(run);
    const watch = { service: "lead", key: "s1", handler: "watch" };
    for (const time of ["first", "again"])
      await world.finish(await world.submit(watch, { name: "child", agent: "writer", key: "s1/child", run }, time));
    await world.settle();
    expect((await storyOf(world, "lead")).filter((line) => line.startsWith("message"))).toHaveLength(1);
  });

  test("a cancel of the parent reaches children in the background", async () => {
    const waits = tool({ kind: "read", inputSchema: z.object({}), run: (ctx) => ctx.sleep("9d") });
    const slow = agent("slow", { model: scriptedModel(callsOnce("waits", {})), tools: { waits } });
    const script: Script = ({ messages }) => {
      const tools = messages.filter(({ role }) => role === "tool").length;
      return {
        toolCalls: [
          { name: tools === 0 ? "delegate" : "waits", input: tools === 0 ? { task: "x" } : {}, id: `c${tools}` },
        ],
      };
    };
    const lead = agent("lead", {
      model: scriptedModel(script),
      tools: { delegate: subagent(slow, { background: true }), waits },
    });
    const world = await new TestWorld({ services: [lead, slow] }).open();
    const run = await world.submit(target("lead"), "go");
    await world.settle();
    await world.cancel(run);
    await world.settle();
    const runs = await world.runs();
    expect(
      runs.filter(({ service, handler }) => service === "slow" && handler === "send").map(({ status }) => status),
    ).toEqual(["cancelled"]);
    expect((await world.run(run))?.status).toBe("cancelled");
  });
});

describe("sub-agents that are cancelled", () => {
  const waits = tool({ kind: "read", inputSchema: z.object({}), run: (ctx) => ctx.sleep("9d") });
  const slow = () => agent("slow", { model: scriptedModel(callsOnce("waits", {})), tools: { waits } });
  const sends = async (world: TestWorld, name: string) =>
    (await world.runs()).filter(({ service, handler }) => service === name && handler === "send");

  test("one that is waited for is a result: its parent goes on", async () => {
    const sub = slow();
    const script: Script = (request) => {
      const results = request.messages.filter(({ role }) => role === "tool");
      const [started] = results;
      if (started === undefined) return { toolCalls: [{ name: "delegate", input: { task: "x" }, id: "c0" }] };
      if (results.length > 1) return "went on";
      const { child } = JSON.parse(started.text) as { child: string };
      return { toolCalls: [{ name: "child_wait", input: { name: child }, id: "c1" }] };
    };
    const lead = agent("lead", {
      model: scriptedModel(script),
      tools: { delegate: subagent(sub, { background: true }) },
    });
    const world = await new TestWorld({ services: [lead, sub] }).open();
    const run = await world.submit(target("lead"), "go");
    await world.settle();
    for (const { id } of await sends(world, "slow")) await world.cancel(id);
    expect(valueOf<AgentAnswer>(await world.finish(run)).text).toBe("went on");
    expect(await storyOf(world, "lead")).toContain("tool child_wait error");
  });

  test("a cancel reaches one that is being started beside a call that the cancel ends", async () => {
    const sub = slow();
    const both = [
      { name: "waits", input: {}, id: "c0" },
      { name: "delegate", input: { task: "x" }, id: "c1" },
    ];
    const script: Script = (request) =>
      heard(request).some((line) => line.includes("has ended")) ? "noted" : { toolCalls: both };
    const gate = Promise.withResolvers<void>();
    const background = subagent(sub, { background: true });
    const delegate = tool({
      kind: "read",
      inputSchema: z.object({ task: z.string() }),
      run: async (ctx, input, info) => {
        // The cancel arrives while it waits for a send: before the session knows of the sub-agent.
        gate.resolve();
        await ctx.send(sub, "another").stop();
        return (await background.run?.(ctx, input, info)) ?? null;
      },
    });
    const lead = agent("lead", { model: scriptedModel(script), tools: { waits, delegate } });
    const world = await new TestWorld({ services: [lead, sub] }).open();
    const run = await world.submit(target("lead"), "go");
    await gate.promise;
    await world.cancel(run);
    await world.settle();
    expect((await sends(world, "slow")).map(({ status }) => status)).toEqual(["cancelled"]);
    expect((await world.run(run))?.status).toBe("cancelled");
  });
});

describe("approvals", () => {
  const published: string[] = [];
  const publish = tool({
    approval: "always",
    inputSchema: z.object({ title: z.string() }),
    execute: ({ title }) => {
      published.push(title);
      return `published ${title}`;
    },
  });
  const script = callsOnce("publish", { title: "Tides" });

  async function answer(world: TestWorld, decision: object): Promise<boolean> {
    const open = (await world.runs()).filter(
      ({ service, handler, status }) => service === "perdure.approvals" && handler === "run" && status !== "succeeded",
    );
    for (const { key } of open)
      await world.submit(
        { service: "perdure.approvals", key: key ?? "", handler: "answer" },
        decision,
        `answer-${key}`,
      );
    return open.length > 0;
  }

  test("nothing is done before a person said yes, and then what they said, once", async () => {
    const editor = agent("editor", { model: scriptedModel(script), tools: { publish } });
    const report = await crashAtEveryEntry({
      services: [editor],
      target: target("editor"),
      input: "publish it",
      outside: (world) => answer(world, { decision: "approved", by: "ada", input: { title: "Ebb" } }),
      observe: (world) => storyOf(world, "editor"),
      reset: () => void (published.length = 0),
      pointsMax: 40,
    });
    expect(valueOf<AgentAnswer>(report.result).text).toBe("It said: published Ebb");
  });

  test("a no is a result that the model sees", async () => {
    published.length = 0;
    const editor = agent("editor", { model: scriptedModel(script), tools: { publish } });
    const world = await new TestWorld({ services: [editor] }).open();
    const run = await world.submit(target("editor"), "publish it");
    const result = await world.finish(run, (w) => answer(w, { decision: "rejected", by: "ada", comment: "too early" }));
    expect(valueOf<AgentAnswer>(result).text).toContain("ada said no: too early");
    expect(published).toEqual([]);
    expect((await eventsOf(world, "editor")).map(({ type }) => type)).toContain("approval-asked");
  });

  test("a rule denies by argument, and the switch takes writes away", async () => {
    published.length = 0;
    const editor = agent("editor", {
      model: scriptedModel(script),
      tools: { publish },
      permissions: [{ tool: "publish", when: { title: "Ti*" }, action: "deny", reason: "not now" }],
    });
    const world = await new TestWorld({ services: [editor] }).open();
    const answered = valueOf<AgentAnswer>(await world.finish(await world.submit(target("editor"), "publish it")));
    expect(answered.text).toContain("not now");
    expect(published).toEqual([]);
  });

  test("writes that are taken away while the question is open stay undone, whatever the answer", async () => {
    published.length = 0;
    const editor = agent("editor", { model: scriptedModel(script), tools: { publish } });
    const world = await new TestWorld({ services: [editor] }).open();
    const run = await world.submit(target("editor"), "publish it");
    await world.settle();
    const set = { service: "perdure.controls", key: "switches", handler: "set" };
    await world.finish(await world.submit(set, { target: "editor", writes: "deny", by: "grace", reason: "frozen" }));
    const result = await world.finish(run, (w) => answer(w, { decision: "approved", by: "ada" }));
    expect(valueOf<AgentAnswer>(result).text).toContain("frozen");
    expect(published).toEqual([]);
  });
});

describe("budgets", () => {
  test("at the limit the agent pauses and asks; raised, it goes on from there", async () => {
    const model = scriptedModel(({ messages }) => `answer ${messages.length}`);
    const thrifty = agent("thrifty", { model, maxOutputTokens: 300, budget: { tokens: 350 } });
    const world = await new TestWorld({ services: [thrifty] }).open();
    const first = valueOf<AgentAnswer>(await world.finish(await world.submit(target("thrifty"), "hello", "1")));
    expect(first.reason).toBe("answered");
    const long = "x".repeat(2_000);
    const second = await world.submit(target("thrifty"), long, "2");
    await world.settle();
    expect((await world.run(second))?.status).not.toBe("succeeded");
    expect(model.requests).toHaveLength(1);
    const questions = (await world.runs()).filter(
      ({ service, handler }) => service === "perdure.approvals" && handler === "run",
    );
    expect(questions).toHaveLength(1);
    await world.submit(
      { service: "perdure.approvals", key: questions[0]?.key ?? "", handler: "answer" },
      { decision: "approved", by: "ada", input: { tokens: 100_000 } },
      "yes",
    );
    expect(valueOf<AgentAnswer>(await world.finish(second)).reason).toBe("answered");
    expect(model.requests).toHaveLength(2);
  });
});

describe("the answer's form, and long conversations", () => {
  test("an answer of the wrong form is asked for again", async () => {
    const script: Script = (request) =>
      heard(request).some((line) => line.includes("does not have the form")) ? '{"year": 1969}' : "1969";
    const dated = agent("dated", { model: scriptedModel(script), output: z.object({ year: z.number() }) });
    const world = await new TestWorld({ services: [dated] }).open();
    const answer = valueOf<AgentAnswer>(await world.finish(await world.submit(target("dated"), "when?")));
    expect(answer).toMatchObject({ output: { year: 1969 }, usage: { calls: 2 } });
  });

  test("a long result is shown as an excerpt, and its rest can be read in the same turn", async () => {
    const script: Script = ({ messages, tools }) => {
      const results = messages.filter(({ role }) => role === "tool").map(({ text }) => text);
      if (results.length === 0) return { toolCalls: [{ name: "fetch", input: {} }] };
      if (results.length > 1) return results[1] ?? "";
      expect(results[0]).toContain('read_result with toolCallId "call_1"');
      return tools.includes("read_result")
        ? { toolCalls: [{ name: "read_result", input: { toolCallId: "call_1", from: 900, chars: 10 }, id: "call_2" }] }
        : "it cannot be read";
    };
    const fetch = tool({
      kind: "read",
      inputSchema: z.object({}),
      execute: () => `${"a".repeat(900)}the middle${"b".repeat(900)}`,
    });
    const reader = agent("reader", {
      model: scriptedModel(script),
      tools: { fetch },
      context: { resultCharsMax: 100 },
    });
    const world = await new TestWorld({ services: [reader] }).open();
    const answer = valueOf<AgentAnswer>(await world.finish(await world.submit(target("reader"), "go")));
    expect(answer.text).toContain("the middle");
  });

  test("a conversation that grows too large is compacted; nothing is lost", async () => {
    const script: Script = (request) =>
      heard(request).some((line) => line.includes("Summarize")) ? "SUMMARY" : `told ${request.messages.length}`;
    const model = scriptedModel(script);
    const talker = agent("talker", { model, context: { maxTokens: 400, keepTokens: 100 } });
    const world = await new TestWorld({ services: [talker] }).open();
    for (let turn = 0; turn < 12; turn += 1)
      await world.finish(await world.submit(target("talker"), `turn ${turn} ${"words ".repeat(30)}`, `t${turn}`));
    const items = await transcriptOf(world, "talker");
    expect(items.filter(({ type }) => type === "message")).toHaveLength(12);
    expect(items.some(({ type }) => type === "compaction")).toBe(true);
    expect(heard(model.requests.at(-1) ?? model.requests[0]!).join("\n")).toContain("SUMMARY");
  });
});

describe("a cancel of what an agent waits for", () => {
  test("a question that is withdrawn is a no; a sub-agent that somebody cancels is a result: the agent goes on", async () => {
    const act = tool({ approval: "always", inputSchema: z.object({}), execute: () => "done" });
    const asks = agent("asks", { model: scriptedModel(callsOnce("act", {})), tools: { act } });
    const nap = tool({ kind: "read", inputSchema: z.object({}), run: (ctx) => ctx.sleep("9d") });
    const slow = agent("slow", { model: scriptedModel(callsOnce("nap", {})), tools: { nap } });
    const lead = agent("lead", {
      model: scriptedModel(callsOnce("delegate", { task: "x" })),
      tools: { delegate: subagent(slow) },
    });
    const world = await new TestWorld({ services: [asks, lead, slow] }).open();
    const asking = await world.submit(target("asks"), "go");
    const leading = await world.submit(target("lead"), "go");
    await world.settle();
    for (const { id, service, handler } of await world.runs())
      if (service === "slow" || (service === "perdure.approvals" && handler === "run")) await world.cancel(id);
    expect(valueOf<AgentAnswer>(await world.finish(asking)).text).toContain("withdrawn");
    expect(valueOf<AgentAnswer>(await world.finish(leading)).text).toContain("was cancelled");
  });
});
