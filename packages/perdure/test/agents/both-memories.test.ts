// All that an agent can do, in both memories: sub-agents, approvals, budgets, forms, long conversations, hands on the host.

import { setImmediate } from "node:timers/promises";
import type { AgentAnswer } from "perdure";
import { crashAtEveryEntry, type Script, type TestWorld } from "perdure/testing";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { eventsOf, heard, storyOf, transcriptOf, valueOf } from "./agent-world.ts";
import * as cast from "./cast.ts";
import { inMemory, MEMORIES, SLOWLY, worldOf } from "./memories.ts";
import { model, notes, play, traces } from "./stage.ts";

const target = (name: string) => ({ service: name, key: "s1", handler: "send" });
const HOUR = 3_600_000;

/** Calls the tool once with the input, then tells what came of it. */
function callsOnce(name: string, input: unknown): Script {
  return ({ messages }) => {
    const result = messages.findLast(({ role }) => role === "tool");
    return result === undefined ? { toolCalls: [{ name, input }] } : `It said: ${result.text}`;
  };
}

async function answerOf(world: TestWorld, name: string, text: string, key = text): Promise<AgentAnswer> {
  return valueOf<AgentAnswer>(await world.finish(await world.submit(target(name), text, key)));
}

async function questions(world: TestWorld) {
  const runs = await world.runs();
  return runs.filter(
    ({ service, handler, status }) => service === "perdure.approvals" && handler === "run" && status !== "succeeded",
  );
}

async function decide(world: TestWorld, decision: object): Promise<boolean> {
  const open = await questions(world);
  for (const { key } of open) {
    const answer = { service: "perdure.approvals", key: key ?? "", handler: "answer" };
    await world.submit(answer, decision, `answer-${key}`);
  }
  return open.length > 0;
}

beforeEach(() => void traces.splice(0));
afterAll(() => notes.close());

describe.each(MEMORIES)("with memory: $memory", SLOWLY, (memory) => {
  test("the gateway is the process's: its bill has each call once, wherever the process crashes", async () => {
    const script = callsOnce("double", { n: 21 });
    play(script);
    const report = await crashAtEveryEntry({
      services: [cast.handy],
      ...inMemory(memory),
      target: target("handy"),
      input: "go",
      observe: (world) => storyOf(world, "handy"),
      pointsMax: 2 * memory.pointsMax,
    });
    expect(valueOf<AgentAnswer>(report.result).text).toBe("It said: 42");
    const world = await worldOf(memory, cast.handy);
    const before = model.requests.length;
    expect(await answerOf(world, "handy", "go")).toMatchObject({ reason: "answered", usage: { calls: 2 } });
    expect(model.requests).toHaveLength(before + 2);
    const events = await eventsOf(world, "handy");
    expect(events.filter(({ type }) => type === "call-end")).toHaveLength(2);
    expect(events.some((event) => event.type === "part" && event.part.type === "text-delta")).toBe(true);
  });

  test("a parent waits for its child's answer", async () => {
    const write = callsOnce("delegate", { task: "tides" });
    play((request, seen) =>
      request.tools.includes("delegate") ? write(request, seen) : `A text on ${request.messages.at(-1)?.text}`,
    );
    const world = await worldOf(memory, cast.lead, cast.writer);
    expect((await answerOf(world, "lead", "write")).text).toBe("It said: A text on [From lead]\ntides");
  });

  test("a child in the background tells of its end, exactly once", async () => {
    play((request) => {
      const said = heard(request);
      if (request.tools.includes("nap"))
        return request.messages.some(({ role }) => role === "tool")
          ? "slept"
          : { toolCalls: [{ name: "nap", input: {} }] };
      if (said.some((line) => line.includes("has ended")))
        return `Noticed: ${said.filter((line) => line.startsWith("[The sub-agent")).length}`;
      return request.messages.some(({ role }) => role === "tool")
        ? "started it"
        : { toolCalls: [{ name: "delegate", input: { task: "tides" } }] };
    });
    const world = await worldOf(memory, cast.manager, cast.sleeper);
    expect((await answerOf(world, "manager", "go")).text).toBe("started it");
    await world.advance(72 * HOUR);
    expect((await storyOf(world, "manager")).at(-1)).toBe('assistant "Noticed: 1"');
  });

  test("nothing is done before a person said yes, and then what they said, once", async () => {
    play(callsOnce("publish", { title: "Tides" }));
    const report = await crashAtEveryEntry({
      services: [cast.editor],
      ...inMemory(memory),
      target: target("editor"),
      input: "publish it",
      outside: (world) => decide(world, { decision: "approved", by: "ada", input: { title: "Ebb" } }),
      observe: (world) => storyOf(world, "editor"),
      reset: () => void traces.splice(0),
      pointsMax: memory.pointsMax,
    });
    expect(valueOf<AgentAnswer>(report.result).text).toBe("It said: published Ebb");
  });

  test("a no is a result that the model sees", async () => {
    play(callsOnce("publish", { title: "Tides" }));
    const world = await worldOf(memory, cast.editor);
    const run = await world.submit(target("editor"), "publish it");
    const result = await world.finish(run, (w) => decide(w, { decision: "rejected", by: "ada", comment: "too early" }));
    expect(valueOf<AgentAnswer>(result).text).toContain("ada said no: too early");
    expect(traces).toEqual([]);
  });

  test("at the limit of its budget it pauses and asks; raised, it goes on from there", async () => {
    play(({ messages }) => `answer ${messages.length}`);
    const world = await worldOf(memory, cast.thrifty);
    expect((await answerOf(world, "thrifty", "hello")).reason).toBe("answered");
    const before = model.requests.length;
    const run = await world.submit(target("thrifty"), "x".repeat(2_000), "2");
    await world.settle();
    expect(await questions(world)).toHaveLength(1);
    expect(model.requests).toHaveLength(before);
    await decide(world, { decision: "approved", by: "ada", input: { tokens: 100_000 } });
    expect(valueOf<AgentAnswer>(await world.finish(run)).reason).toBe("answered");
  });

  test("an answer of the wrong form is asked for again", async () => {
    play((request) =>
      heard(request).some((line) => line.includes("does not have the form")) ? '{"year": 1969}' : "1969",
    );
    const world = await worldOf(memory, cast.dated);
    expect(await answerOf(world, "dated", "when?")).toMatchObject({ output: { year: 1969 }, usage: { calls: 2 } });
  });

  test("a long result is shown as an excerpt, and its rest can be read", async () => {
    play(({ messages }) => {
      const results = messages.filter(({ role }) => role === "tool").map(({ text }) => text);
      if (results.length === 0) return { toolCalls: [{ name: "fetch", input: {} }] };
      const input = { toolCallId: "call_1", from: 900, chars: 10 };
      return results[1] ?? { toolCalls: [{ name: "read_result", input, id: "call_2" }] };
    });
    const world = await worldOf(memory, cast.reader);
    expect((await answerOf(world, "reader", "go")).text).toContain("the middle");
  });

  test("a conversation that grows too large is compacted; nothing is lost", async () => {
    play((request) =>
      heard(request).some((line) => line.includes("Summarize")) ? "SUMMARY" : `told ${request.messages.length}`,
    );
    const world = await worldOf(memory, cast.talker);
    for (let turn = 0; turn < 8; turn += 1) await answerOf(world, "talker", `turn ${turn} ${"words ".repeat(40)}`);
    const items = await transcriptOf(world, "talker");
    expect(items.filter(({ type }) => type === "message")).toHaveLength(8);
    expect(items.some(({ type }) => type === "compaction")).toBe(true);
    expect(heard(model.requests.at(-1)!).join("\n")).toContain("SUMMARY");
  });

  test("a tool on the host has its info: key, try, signal, progress; what it throws is tried again", async () => {
    play(callsOnce("inspect", { word: "tide" }));
    const world = await worldOf(memory, cast.handy);
    const { text } = await answerOf(world, "handy", "go");
    const said = JSON.parse(text.replace("It said: ", "")) as Record<string, unknown>;
    expect(said).toMatchObject({ word: "tide", toolCallId: "call_1", attempt: 2, aborted: false });
    expect(traces).toEqual([said["idempotencyKey"], said["idempotencyKey"]]);
    const progress = (await eventsOf(world, "handy")).flatMap((event) =>
      event.type === "tool-progress" ? [event.data] : [],
    );
    expect(progress).toEqual([{ half: "tide" }, { half: "tide" }]);
  });

  test("a tool that gives one thing after the other tells how far it is, and last its result", async () => {
    play(callsOnce("count", { to: 3 }));
    const world = await worldOf(memory, cast.handy);
    expect((await answerOf(world, "handy", "go")).text).toBe("It said: 3");
    const progress = (await eventsOf(world, "handy")).flatMap((event) =>
      event.type === "tool-progress" ? [event.data] : [],
    );
    expect(progress).toEqual([1, 2, 3]);
  });

  test("an interruption stops a tool on the host", async () => {
    play((request, seen) => (heard(request).includes("stop that") ? "stopped" : callsOnce("hang", {})(request, seen)));
    const world = await worldOf(memory, cast.handy);
    const run = await world.submit(target("handy"), "go", "1");
    while (!traces.includes("begun")) await setImmediate(); // The world is not idle while a step waits for nothing of its own.
    await world.submit(target("handy"), { text: "stop that", policy: "interrupt" }, "2");
    expect(valueOf<AgentAnswer>(await world.finish(run)).text).toBe("stopped");
    expect(traces).toEqual(["begun", "stopped"]);
    expect(await storyOf(world, "handy")).toContain("tool hang interrupted");
  });

  test("tools of an MCP server are called through the host, which has the connection", async () => {
    play((request, seen) => callsOnce("notes_note", { text: "tide" })(request, seen));
    const world = await worldOf(memory, cast.connected);
    const { text } = await answerOf(world, "connected", "go");
    expect(text).toMatch(/^It said: \{"noted":"tide",.*"perdure\/idempotencyKey":"run_/);
    expect(model.requests.at(-1)?.tools).toContain("notes_issues_list_all");
  });

  test("a handler of a service is a tool", async () => {
    play(callsOnce("charge", { cents: 5 }));
    const world = await worldOf(memory, cast.handy, cast.billing);
    expect((await answerOf(world, "handy", "go")).text).toBe('It said: {"charged":5}');
  });

  test("durable() asks through the same gateway, and its tokens are seen", async () => {
    play(({ messages }) => `You said: ${messages.at(-1)?.text}`);
    const world = await worldOf(memory, cast.plain);
    const run = await world.submit({ service: "plain", handler: "ask" }, "hello");
    expect(valueOf(await world.finish(run))).toMatchObject([{ type: "text", text: "You said: hello" }]);
    const items = await world.stream({ run }, "tokens");
    expect(items.map(({ payload }) => (JSON.parse(String(payload)) as { type: string }).type)).toContain("part");
  });

  test("a turn that waits for a person is forked, and goes on with other instructions and without tools", async () => {
    play(({ messages }) =>
      messages.some(({ role }) => role === "tool")
        ? "Done."
        : { toolCalls: [{ name: "publish", input: { title: "the report" } }] },
    );
    const world = await worldOf(memory, cast.editor);
    const run = await world.submit(target("editor"), "go", "go");
    while ((await questions(world)).length === 0) await setImmediate();
    const note = { instructions: "Say it to a child.", tools: [] };
    const fork = await world.fork(run, { note });
    const before = model.requests.length;
    await decide(world, { decision: "approved", by: "ada" });
    expect(valueOf<AgentAnswer>(await world.finish(run)).text).toBe("Done.");
    expect(valueOf<AgentAnswer>(await world.finish(fork)).text).toBe("Done.");
    const told = model.requests.slice(before).map(({ messages, tools }) => ({
      system: messages.find(({ role }) => role === "system")?.text,
      tools,
    }));
    expect(told).toHaveLength(2);
    expect(told).toContainEqual({ system: undefined, tools: ["publish"] });
    expect(told).toContainEqual({ system: "Say it to a child.", tools: [] });
    expect(traces).toEqual(["the report", "the report"]);
    const key = (await world.run(fork))?.key ?? "";
    expect(key).not.toBe("s1");
    const [own, copy] = [await transcriptOf(world, "editor"), await transcriptOf(world, "editor", key)];
    expect(copy.map(({ type }) => type)).toEqual(own.map(({ type }) => type));
  });
});
