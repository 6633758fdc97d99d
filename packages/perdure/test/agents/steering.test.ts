// Messages that arrive while the agent is at work: each policy, in both memories, without and with a crash. Nothing is lost.

import type { AgentAnswer } from "perdure";
import { crashAtEveryEntry, type Script, type TestWorld } from "perdure/testing";
import { describe, expect, test } from "vitest";
import { DRIVE, type Line } from "./agent-driver.ts";
import { eventsOf, heard, storyOf, transcriptOf, valueOf } from "./agent-world.ts";
import { drive, driveJudge, judge, worker } from "./cast.ts";
import { inMemory, MEMORIES, SLOWLY, worldOf, type Memory } from "./memories.ts";
import { play } from "./stage.ts";

/** Works for an hour, then answers with all that it was told. */
const worksFirst: Script = (request) => {
  const worked = request.messages.some(({ role }) => role === "tool");
  return worked ? `Heard: ${heard(request).join(" | ")}` : { toolCalls: [{ name: "work", input: {} }] };
};

const MINUTE = 60_000;

async function say(memory: Memory, script: Script, lines: readonly Line[]) {
  play(script);
  const world = await worldOf(memory, worker, drive);
  const run = await world.submit(DRIVE, lines);
  const answers = valueOf<(AgentAnswer | string)[]>(await world.finish(run));
  return { world, answers };
}

async function crashes(memory: Memory, script: Script, lines: readonly Line[]) {
  play(script);
  return await crashAtEveryEntry({
    services: [worker, drive],
    ...inMemory(memory),
    target: DRIVE,
    input: lines,
    observe: (world) => storyOf(world, "worker"),
    pointsMax: memory.pointsMax,
  });
}

const textsOf = (result: unknown): string[] => valueOf<AgentAnswer[]>(result).map(({ text }) => text);

describe.each(MEMORIES)("with memory: $memory", SLOWLY, (memory) => {
  describe("steer", () => {
    const lines: Line[] = [
      { afterMs: 0, say: "start" },
      { afterMs: 10 * MINUTE, say: "look at tides" },
    ];

    test("is seen before the next model call, and both messages get the answer", async () => {
      const { world, answers } = await say(memory, worksFirst, lines);
      expect(answers).toMatchObject([
        { text: "Heard: start | look at tides", reason: "answered" },
        { text: "Heard: start | look at tides", reason: "answered" },
      ]);
      expect(await storyOf(world, "worker")).toEqual([
        'message "start"',
        "assistant work",
        "tool work ok",
        'message "look at tides"',
        'assistant "Heard: start | look at tides"',
      ]);
    });

    test("is seen once where a message that waits for a turn of its own stands before it", async () => {
      const { world, answers } = await say(memory, worksFirst, [
        { afterMs: 0, say: "start" },
        { afterMs: 10 * MINUTE, say: { text: "later", policy: "queue" } },
        { afterMs: 20 * MINUTE, say: "look at tides" },
      ]);
      const story = await storyOf(world, "worker");
      expect(story.filter((line) => line === 'message "look at tides"')).toHaveLength(1);
      expect((answers[2] as AgentAnswer).turn).toBe((answers[0] as AgentAnswer).turn);
    });

    test("is neither lost nor doubled by a crash anywhere", async () => {
      const report = await crashes(memory, worksFirst, lines);
      expect(report.crashes).toBeGreaterThanOrEqual(memory.pointsMax);
    });

    test("one that arrives while the last answer is generated is answered, too", async () => {
      const script: Script = (request) => ({ text: `Heard ${heard(request).length}`, firstTokenMs: 0 });
      const { answers } = await say(memory, script, [
        { afterMs: 0, say: "one" },
        { afterMs: 0, say: "two" },
        { afterMs: 0, say: "three" },
      ]);
      for (const answer of answers) expect(answer).toMatchObject({ reason: "answered" });
    });
  });

  describe("queue and collect", () => {
    test("a queued message gets a turn of its own", async () => {
      const lines: Line[] = [
        { afterMs: 0, say: "start" },
        { afterMs: 10 * MINUTE, say: { text: "later", policy: "queue" } },
      ];
      const { world } = await say(memory, worksFirst, lines);
      expect((await storyOf(world, "worker")).slice(3)).toEqual([
        'assistant "Heard: start"',
        'message "later"',
        'assistant "Heard: start | later"',
      ]);
      await crashes(memory, worksFirst, lines);
    });

    test("collected messages share one turn", async () => {
      const lines: Line[] = [
        { afterMs: 0, say: "start" },
        { afterMs: 10 * MINUTE, say: { text: "a", policy: "collect" } },
        { afterMs: 20 * MINUTE, say: { text: "b", policy: "collect" } },
        { afterMs: 30 * MINUTE, say: { text: "c", policy: "collect" } },
      ];
      const { world, answers } = await say(memory, worksFirst, lines);
      expect((await storyOf(world, "worker")).slice(3)).toEqual([
        'assistant "Heard: start"',
        'message "a"',
        'message "b"',
        'message "c"',
        'assistant "Heard: start | a | b | c"',
      ]);
      expect(answers.slice(1).map((answer) => (answer as AgentAnswer).text)).toEqual(
        Array.from({ length: 3 }, () => "Heard: start | a | b | c"),
      );
      await crashes(memory, worksFirst, lines);
    });
  });

  describe("interrupt", () => {
    const stalls: Script = (request) =>
      heard(request).length === 1
        ? { text: "one two three four five six", fault: { kind: "stall", afterTokens: 3 } }
        : `Heard: ${heard(request).join(" | ")}`;
    const lines: Line[] = [
      { afterMs: 0, say: "start" },
      { afterMs: 10_000, say: { text: "no, this", policy: "interrupt" } },
    ];

    test("stops the generation and keeps what had come of it, marked", async () => {
      const { world, answers } = await say(memory, stalls, lines);
      expect(answers).toMatchObject([{ text: "Heard: start | no, this" }, { text: "Heard: start | no, this" }]);
      const items = await transcriptOf(world, "worker");
      expect(items[1]).toMatchObject({ type: "assistant", partial: true });
      expect(JSON.stringify(items[1])).toContain("one");
      const ends = (await eventsOf(world, "worker")).filter((event) => event.type === "call-end");
      expect(ends.map(({ outcome }) => outcome)).toEqual(["interrupted", "settled"]);
    });

    test("survives a crash anywhere", async () => {
      play(stalls);
      const report = await crashAtEveryEntry({
        services: [worker, drive],
        ...inMemory(memory),
        pointsMax: memory.pointsMax,
        target: DRIVE,
        input: lines,
        // How much of the cut answer had come, and so was used, differs with the time of the crash.
        same: (a, b) => JSON.stringify(textsOf(a)) === JSON.stringify(textsOf(b)),
        observe: async (world) =>
          (await storyOf(world, "worker")).map((line) => (line.includes("partial") ? "partial" : line)),
      });
      expect(report.crashes).toBeGreaterThanOrEqual(memory.pointsMax);
    });
  });

  describe("restart", () => {
    test("calls the work off, and the model is told of the new task alone", async () => {
      const { world, answers } = await say(memory, worksFirst, [
        { afterMs: 0, say: "frontier models" },
        { afterMs: 10 * MINUTE, say: { text: "forget that: AI policy", policy: "restart" } },
      ]);
      expect(answers).toMatchObject([{ reason: "restarted" }, { text: "Heard: forget that: AI policy" }]);
      expect(await storyOf(world, "worker")).toContain("restart");
    });

    test("the relevance hook decides between steering and starting anew", async () => {
      play(worksFirst);
      const world = await worldOf(memory, judge, driveJudge);
      const lines: Line[] = [
        { afterMs: 0, say: "models" },
        { afterMs: 10 * MINUTE, say: "focus on frontier models" },
        { afterMs: 20 * MINUTE, say: "forget that, research AI policy" },
      ];
      const run = await world.submit({ service: "driver-judge", handler: "drive" }, lines);
      const answers = valueOf<AgentAnswer[]>(await world.finish(run));
      expect(answers.at(-1)).toMatchObject({ text: "Heard: forget that, research AI policy" });
      expect(answers[0]).toMatchObject({ reason: "restarted" });
    });
  });

  describe("a message that is withdrawn after it was seen", () => {
    test("leaves nothing behind in the session", async () => {
      const worksTwice: Script = ({ messages }) => {
        const worked = messages.filter(({ role }) => role === "tool").length;
        return worked < 2 ? { toolCalls: [{ name: "work", input: {}, id: `call_${worked}` }] } : "done";
      };
      play(worksTwice);
      const world = await worldOf(memory, worker);
      const target = { service: "worker", key: "s1", handler: "send" };
      const first = await world.submit(target, "start", "1");
      const second = await world.submit(target, "and tides", "2");
      await world.advance(90 * MINUTE);
      expect(takenIn(world)).toEqual([second]);
      await world.cancel(second);
      await world.finish(first);
      await world.finish(await world.submit(target, "more", "3"));
      expect(takenIn(world)).toEqual([]);
    });
  });

  describe("a message that is withdrawn before it is seen", () => {
    test("calls nothing off", async () => {
      play(worksFirst);
      const world = await worldOf(memory, worker);
      const target = { service: "worker", key: "s1", handler: "send" };
      const first = await world.submit(target, "start", "1");
      await world.settle();
      await world.submit(target, "and tides", "2");
      const third = await world.submit(target, { text: "forget that", policy: "restart" }, "3");
      await world.cancel(third);
      const answer = valueOf<AgentAnswer>(await world.finish(first));
      expect(answer).toMatchObject({ reason: "answered", text: "Heard: start | and tides" });
    });

    test("is not seen", async () => {
      play(worksFirst);
      const world = await worldOf(memory, worker);
      const target = { service: "worker", key: "s1", handler: "send" };
      const first = await world.submit(target, "start", "1");
      await world.settle();
      const second = await world.submit(target, "never mind", "2");
      await world.settle();
      await world.cancel(second);
      const answer = valueOf<AgentAnswer>(await world.finish(first));
      expect(answer.text).toBe("Heard: start");
    });
  });
});

/** Messages that the session remembers as seen. */
function takenIn(world: TestWorld): string[] {
  const session = world.memory.storage.data.state.get("worker")?.get("s1")?.get("session");
  return Object.keys((JSON.parse(String(session)) as { taken: object }).taken);
}
