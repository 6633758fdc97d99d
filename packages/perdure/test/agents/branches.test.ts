// Going on from an earlier point: rewound in place, forked into another session; compactions that are called off.

import { agent, type AgentAnswer } from "perdure";
import { scriptedModel, TestWorld, type Script } from "perdure/testing";
import { describe, expect, test } from "vitest";
import { heard, storyOf, transcriptOf, valueOf } from "./agent-world.ts";

const on = (handler: string, key = "s1") => ({ service: "talker", key, handler });
const says: Script = (request) => `Heard: ${heard(request).join(" | ")}`;
const talker = () => agent("talker", { model: scriptedModel(says) });

async function talk(world: TestWorld, text: string, key = "s1"): Promise<string> {
  return valueOf<AgentAnswer>(await world.finish(await world.submit(on("send", key), text, `${key}/${text}`))).text;
}

describe("rewind", () => {
  test("models are not told of what was called off; people still see it", async () => {
    const world = await new TestWorld({ services: [talker()] }).open();
    await talk(world, "one");
    await talk(world, "two");
    const hidden = valueOf(await world.finish(await world.submit(on("rewind"), { to: 2 }, "rewind")));
    expect(hidden).toEqual({ hidden: 2 });
    expect(await talk(world, "three")).toBe("Heard: one | three");
    expect(await storyOf(world, "talker")).toContain('message "two"');
  });

  test("a point that is not there is refused", async () => {
    const world = await new TestWorld({ services: [talker()] }).open();
    await talk(world, "one");
    expect(await world.finish(await world.submit(on("rewind"), { to: 9 }, "rewind"))).toMatchObject({
      kind: "failure",
      failure: { message: "the transcript has 2 items: there is none at 9" },
    });
  });

  test("a compaction that tells of what was called off does not count any more", async () => {
    const script: Script = (request) =>
      heard(request).some((line) => line.includes("Summarize")) ? "SUMMARY" : `Heard: ${heard(request).join(" | ")}`;
    const compact = agent("talker", { model: scriptedModel(script), context: { maxTokens: 120, keepTokens: 30 } });
    const world = await new TestWorld({ services: [compact] }).open();
    await talk(world, `one ${"x".repeat(200)}`);
    await talk(world, `two ${"x".repeat(200)}`);
    await talk(world, `three ${"x".repeat(200)}`);
    const items = await transcriptOf(world, "talker");
    expect(items.some(({ type }) => type === "compaction")).toBe(true);
    await world.finish(await world.submit(on("rewind"), { to: 1 }, "rewind"));
    expect(await talk(world, "four")).toMatch(/^Heard: one x+ \| four$/);
  });
});

describe("fork", () => {
  test("the new session begins with what was said, and goes its own way; nothing is asked again", async () => {
    const world = await new TestWorld({ services: [talker()] }).open();
    await talk(world, "one");
    await talk(world, "two");
    const made = valueOf(await world.finish(await world.submit(on("fork"), { to: "s2", at: 2 }, "fork")));
    expect(made).toEqual({ items: 2 });
    expect(await talk(world, "three", "s2")).toBe("Heard: one | three");
    expect(await talk(world, "four")).toBe("Heard: one | two | four");
  });

  test("a session where something was said is no place for a fork", async () => {
    const world = await new TestWorld({ services: [talker()] }).open();
    await talk(world, "one");
    await talk(world, "other", "s2");
    expect(await world.finish(await world.submit(on("fork"), { to: "s2" }, "fork"))).toMatchObject({
      kind: "failure",
      failure: { code: 409 },
    });
  });
});
