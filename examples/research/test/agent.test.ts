// The agents as a whole: what they answer, what steers them, what they ask a person, and crashes wherever one can happen.

import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { crashAtEveryEntry, TestWorld } from "perdure/testing";
import { afterAll, beforeEach, describe, expect, test } from "vitest";

import { readLedger, summarise } from "../src/ledger.ts";
import {
  answerOf,
  corpusFolder,
  events,
  load,
  person,
  removeFolders,
  session,
  transcript,
  YES,
  type Agents,
  type Decide,
} from "./research-world.ts";

afterAll(removeFolders);

const agents = await load();
beforeEach(() => rmSync(agents.ledger, { force: true }));

const question = "When is the lamp lit, and what does the keeper do after a storm?";

async function open({ services }: Agents = agents): Promise<TestWorld> {
  return new TestWorld({ services }).open();
}

/** Until everything waits for a person, or is done. */
async function untilAsked(world: TestWorld): Promise<void> {
  await world.settle();
  const asked = (await world.runs()).some(
    ({ service, status }) => service === "perdure.approvals" && status !== "succeeded",
  );
  if (!asked) throw new Error("nobody is asked");
}

const published = (answer: { readonly text: string }): string =>
  readFileSync(/published: (\S+)$/.exec(answer.text)?.[1] ?? "nothing is published", "utf8");

describe("a fork of the research", () => {
  test("goes on from any entry, and nothing that was done before it is done again", async () => {
    const world = await open();
    const run = await world.submit(session(), question);
    const answer = answerOf(await world.finish(run, person()));
    const journal = await world.journal(run);
    const done = readLedger(agents.ledger);
    expect(done.filter(({ idempotencyKey }) => idempotencyKey.startsWith(`${run}-`)).length).toBeGreaterThan(3);
    for (const share of [0.25, 0.5, 0.75, 1]) {
      const at = Math.floor(journal.length * share);
      const prefix = journal.slice(0, at);
      const before = readLedger(agents.ledger).length;
      const fork = await world.fork(run, { at });
      const forked = answerOf(await world.finish(fork, person()));
      expect(forked.reason, `at ${at}`).toBe("answered");
      expect((await world.journal(fork)).slice(0, at)).toEqual(prefix);
      // What the fork did itself stands behind the prefix, or had no result in it.
      const results = new Set(
        prefix.flatMap((entry) => ("result" in entry && entry.result !== undefined ? [entry.id] : [])),
      );
      const commands = readLedger(agents.ledger)
        .slice(before)
        .flatMap(({ idempotencyKey: key }) => (key.startsWith(`${fork}-`) ? [Number(key.slice(fork.length + 1))] : []));
      expect(
        commands.filter((command) => results.has(command)),
        `at ${at}`,
      ).toEqual([]);
      expect(world.memory.executions.filter((each) => each.run === fork && each.journaledBefore)).toEqual([]);
      // Nor is a helper started again that the prefix has started.
      const called = prefix.filter((entry) => entry.kind === "command").length;
      const children = (await world.runs()).filter(({ parent }) => parent?.run === fork);
      expect(
        children.filter(({ parent }) => (parent?.command ?? 0) <= called),
        `at ${at}`,
      ).toEqual([]);
      if (share === 1) expect([forked.text, readLedger(agents.ledger).length]).toEqual([answer.text, before]);
    }
    const { repeated } = summarise(readLedger(agents.ledger));
    expect(repeated).toEqual([]);
  });
});

describe("research", () => {
  test("a question becomes a report whose citations lead to pages, once a person has said yes", async () => {
    const world = await open();
    const run = await world.submit(session(), question);
    const titles: string[] = [];
    const decide: Decide = (title) => {
      titles.push(title);
      return YES(title);
    };
    const answer = answerOf(await world.finish(run, person(decide)));
    expect(answer).toMatchObject({ reason: "answered", usage: { usd: null } });
    expect(answer.text).toContain("The keeper lights the lamp at sunset and puts it out at sunrise. [1]");
    expect(titles[0]).toContain("researcher wants to use publish");

    const report = published(answer);
    expect(report).toMatch(/^# When is the lamp lit/);
    expect(report).toContain("by the extractive model: no language model is configured");
    const cited = [...report.matchAll(/\[(\d+)\]/g)].map((match) => Number(match[1]));
    const sources = [...report.matchAll(/^(\d+)\. `(.+):(\d+)`/gm)];
    expect(cited.length).toBeGreaterThan(3);
    expect(Math.max(...cited)).toBeLessThanOrEqual(sources.length);
    for (const [, , path = "", line] of sources) {
      const text = readFileSync(join(corpusFolder, path), "utf8").split("\n")[Number(line) - 1];
      expect(text?.length).toBeGreaterThan(20);
    }
    const { byKind, repeated, tokens } = summarise(readLedger(agents.ledger));
    const writers = (await world.runs()).filter(({ service, handler }) => service === "writer" && handler === "send");
    expect(writers).toHaveLength(1);
    expect({ repeated, model: byKind["model"] }).toEqual({ repeated: [], model: answer.usage.calls + 1 });
    expect(tokens).toBeGreaterThan(answer.usage.inputTokens + answer.usage.outputTokens);
  });

  test("what a person refuses is not published, and the answer says why", async () => {
    const world = await open();
    const run = await world.submit(session(), question);
    const no: Decide = () => ({ decision: "rejected", by: "ada", comment: "too long" });
    const answer = answerOf(await world.finish(run, person(no)));
    expect(answer.text).toContain("The report is not published: ada said no: too long\n");
    expect(answer.text).toContain("puts it out at sunrise");
    expect(readLedger(agents.ledger).filter(({ name }) => name.startsWith("publish"))).toEqual([]);
  });

  test("a person may publish something else than was asked for, if it cites what is there", async () => {
    const good = "# Edited by ada\n\nThe lamp burns. [1]\n\n## Sources\n\n1. `lamp.md:5` The lamp";
    for (const [markdown, expected] of [
      [good, "The report is published: "],
      [good.replace("[1]", "[7]"), "not published: it cites [7], which is no source of it"],
    ] as const) {
      const world = await open();
      const run = await world.submit(session(), question);
      const edit: Decide = () => ({ decision: "approved", by: "ada", input: { title: "Edited", markdown } });
      const answer = answerOf(await world.finish(run, person(edit)));
      expect(answer.text).toContain(expected);
      if (markdown === good) expect(published(answer)).toBe(good);
    }
  });

  test("where the documents say nothing it says so, and publishes nothing", async () => {
    const world = await open();
    const run = await world.submit(session(), "xylophone quartets?");
    const answer = answerOf(await world.finish(run));
    expect(answer.text).toContain("The documents say nothing about this");
  });

  test("a folder that is not there is said at once", async () => {
    const missing = join(agents.data, "none");
    const world = await open(await load({ RESEARCH_CORPUS: missing }));
    const answer = answerOf(await world.finish(await world.submit(session(), question)));
    expect(answer.text).toContain(`I could not look: the corpus ${missing} does not exist`);
  });

  test("the next question is a research of its own, and a refinement goes on from the one before", async () => {
    const world = await open();
    const ask = async (text: string): Promise<string> =>
      published(answerOf(await world.finish(await world.submit(session(), text, text), person())));
    await ask("When is the lamp lit?");
    const second = await ask("What does the supply boat bring?");
    expect(second).toContain("oil, food and letters");
    expect(second).not.toContain("sunset");
    const refined = await ask("also the visitors of the tower");
    expect(refined).toContain("oil, food and letters");
    expect(refined).toContain("Visitors may climb the tower");
  });
});

describe("messages while it works", () => {
  test("a change of course steers the work that is under way", async () => {
    const world = await open();
    const first = await world.submit(session(), question, "1");
    const second = await world.submit(session(), "focus on the supply boat", "2");
    const answer = answerOf(await world.finish(first, person()));
    expect(published(answer)).toContain("## The supply boat");
    expect(published(answer)).toContain("puts it out at sunrise");
    expect(answerOf(await world.finish(second))).toEqual(answer); // One turn has answered both.
    expect((await events(world)).filter(({ type }) => type === "turn-start")).toHaveLength(1);
  });

  test("what comes after the report was written has it written anew", async () => {
    const world = await open();
    const first = await world.submit(session(), "When is the lamp lit?", "1");
    await untilAsked(world);
    await world.submit(session(), "what about visitors of the tower?", "2");
    const answer = answerOf(await world.finish(first, person()));
    expect(published(answer)).toContain("Visitors may climb the tower");
    expect(
      (await world.runs()).filter(({ service, handler }) => service === "writer" && handler === "send"),
    ).toHaveLength(2);
  });

  test("a message that begins anew calls off all that is under way", async () => {
    const world = await open();
    const first = await world.submit(session(), question, "1");
    await untilAsked(world);
    const second = await world.submit(session(), "Forget that, research the fog horn instead", "2");
    const answer = answerOf(await world.finish(second, person()));
    expect(answer.reason).toBe("answered");
    expect(published(answer)).toContain("fog horn sounds every two minutes");
    expect(published(answer)).not.toContain("puts it out at sunrise");
    expect(answerOf(await world.finish(first))).toMatchObject({ reason: "restarted", text: "" });
    const asked = (await world.runs()).filter(
      ({ service, handler }) => service === "perdure.approvals" && handler === "run",
    );
    expect(asked.map(({ status }) => status)).toEqual(["cancelled", "succeeded"]); // Nobody can approve the first report.
  });

  test("what is for later gets a turn of its own", async () => {
    const world = await open();
    const first = await world.submit(session(), "When is the lamp lit?", "1");
    const second = await world.submit(session(), "then find out about visitors of the tower", "2");
    const [one, two] = [await world.finish(first, person()), await world.finish(second, person())].map(answerOf);
    expect(published(one ?? { text: "" })).not.toContain("Visitors may climb");
    expect(published(two ?? { text: "" })).toContain("Visitors may climb");
    expect(two?.turn).toBe(second);
  });

  test("a policy that the sender chose is not judged", async () => {
    const world = await open();
    const first = await world.submit(session(), question, "1");
    const second = await world.submit(session(), { text: "forget that, visitors of the tower", policy: "queue" }, "2");
    expect(answerOf(await world.finish(first, person())).reason).toBe("answered");
    expect(answerOf(await world.finish(second, person())).turn).toBe(second);
    expect(readLedger(agents.ledger).length).toBeGreaterThan(0);
    expect(JSON.stringify(await world.journal(first))).not.toContain("relevance");
  });
});

describe("budget", () => {
  test("at its limit the tree pauses and asks; a raise lets it go on where it was", async () => {
    const small = await load({ RESEARCH_TOKENS: "9000" });
    const world = await open(small);
    const run = await world.submit(session(), question);
    const titles: string[] = [];
    const decide: Decide = (title) => {
      titles.push(title);
      return YES(title);
    };
    const answer = answerOf(await world.finish(run, person(decide)));
    expect(published(answer)).toContain("puts it out at sunrise");
    expect(titles.filter((title) => title.startsWith("raise the budget researcher/demo"))).not.toEqual([]);
    expect(summarise(readLedger(small.ledger)).repeated).toEqual([]);
  });

  test("a no ends the turn before another call is made", async () => {
    const world = await open(await load({ RESEARCH_TOKENS: "9000" }));
    const run = await world.submit(session(), question);
    const no: Decide = () => ({ decision: "rejected", by: "ada", comment: "enough" });
    const result = await world.finish(run, person(no));
    expect(result).toMatchObject({ failure: { message: expect.stringContaining("more was denied by ada: enough") } });
  });
});

describe("failures", () => {
  test("E2: a crash at any entry changes nothing, and no settled call is made again", async () => {
    const told = async (world: TestWorld): Promise<unknown> =>
      (await transcript(world)).map((item) => (item.type === "decision" ? { ...item, approval: "" } : item));
    const report = await crashAtEveryEntry({
      services: agents.services,
      target: session(),
      input: "When is the lamp lit?",
      outside: person(),
      observe: told,
      pointsMax: 40,
      reset: () => rmSync(agents.ledger, { force: true }),
    });
    expect(report.crashes).toBe(80);
    expect(published(answerOf(report.result))).toContain("puts it out at sunrise");
  });
});
