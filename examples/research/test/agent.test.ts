// The agent as a whole, on the real engine: memory store, skipped time, crashes wherever one can happen.

import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { crashAtEveryEntry, TestWorld } from "perdure/testing";
import { afterAll, describe, expect, test, vi } from "vitest";

import { readLedger, summarise } from "../src/ledger.ts";
import type { Progress, Report } from "../src/types.ts";
import { lastingFolder, LIGHTHOUSE } from "./folders.ts";

const corpus = lastingFolder(LIGHTHOUSE);
const data = lastingFolder();
const ledger = join(data.folder, "ledger.jsonl");
afterAll(() => {
  corpus.remove();
  data.remove();
});

/** The agent with an environment of its own: it reads its settings when it is loaded. */
async function load(env: Readonly<Record<string, string>> = {}) {
  const settings = { OPENAI_API_KEY: "", RESEARCH_INJECT: "", RESEARCH_PACE: "0", RESEARCH_LEDGER: ledger, ...env };
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
  vi.stubEnv("RESEARCH_CORPUS", env["RESEARCH_CORPUS"] ?? corpus.folder);
  vi.stubEnv("RESEARCH_DATA", data.folder);
  vi.resetModules();
  const { research, researcher, writer } = await import("../src/agent.ts");
  vi.unstubAllEnvs();
  return [research, researcher, writer];
}

const services = await load();
const question = "When is the lamp lit, and what does the keeper do after a storm?";
const target = { service: "research", handler: "run", key: "lighthouse" };

/** A person who answers each plan with the next of these. */
function person(...answers: readonly unknown[]): (world: TestWorld) => Promise<boolean> {
  let given = 0;
  return async (world) => {
    const [open] = await world.waiting();
    if (open === undefined) return false;
    await world.resolve(open, answers[Math.min(given, answers.length - 1)]);
    given += 1;
    return true;
  };
}

const APPROVE = { decision: "approve" };

async function ask(input: object, answers: readonly unknown[] = [APPROVE], definitions = services) {
  const world = await new TestWorld({ services: definitions }).open();
  const run = await world.submit(target, { question, ...input });
  const result = await world.finish(run, person(...answers));
  return { world, run, result, report: reportIn(result) };
}

function reportIn(result: unknown): Report {
  const { value } = result as { readonly value?: string };
  return JSON.parse(value ?? "null") as Report;
}

describe("research", () => {
  test("a question becomes a report whose citations lead to passages", async () => {
    rmSync(ledger, { force: true });
    const { world, report } = await ask({});
    expect(report.markdown).toContain("The keeper lights the lamp at sunset and puts it out at sunrise. [");
    expect(report.markdown).toContain("*Written by extractive model: no language model configured (");
    expect(readFileSync(report.file, "utf8")).toBe(report.markdown);

    const cited = [...report.markdown.matchAll(/\[(\d+)\]/g)].map((match) => Number(match[1]));
    expect(cited.length).toBeGreaterThan(3);
    expect(Math.max(...cited)).toBeLessThanOrEqual(report.sources.length);
    for (const { path, line } of report.sources) {
      expect(readFileSync(join(corpus.folder, path), "utf8").split("\n")[line - 1]?.length).toBeGreaterThan(20);
    }

    const children = (await world.runs()).map(({ service }) => service);
    expect(children.filter((service) => service === "researcher").length).toBeGreaterThan(1);
    expect(children.filter((service) => service === "writer")).toHaveLength(1);
    expect(summarise(readLedger(ledger))).toMatchObject({ repeated: [], byKind: { model: report.usage.calls } });
  });

  test("a person may write the plan anew, and is asked again after an answer that is none", async () => {
    const topics = ["The supply boat", { title: "Visitors", queries: ["visitors tower"] }];
    const { world, report } = await ask({}, ["perhaps", { decision: "edit", topics }]);
    const asked = (await world.runs()).filter(({ service }) => service === "researcher");
    expect(asked).toHaveLength(2);
    expect(report.markdown).toContain("## The supply boat");
    expect(report.markdown).toContain("Visitors may climb the tower");
  });

  test("a plan that is rejected ends the research", async () => {
    const { result } = await ask({}, [{ decision: "reject", reason: "too dear" }]);
    expect(result).toMatchObject({ failure: { code: 409, message: "the plan was rejected: too dear" } });
  });

  test("without a person it goes on by itself", async () => {
    const { report } = await ask({ approval: "auto", topics: 1 }, []);
    expect(report.sources.length).toBeGreaterThan(0);
  });

  test("progress shows the plan and what waits, and decide answers it", async () => {
    const world = await new TestWorld({ services }).open();
    const run = await world.submit(target, { question });
    await world.settle();
    const shown = await world.finish(await world.submit({ ...target, handler: "progress" }));
    const progress = reportIn(shown) as unknown as Progress;
    expect(progress).toMatchObject({ stage: "waiting for approval", approval: expect.stringMatching(/^sign_1/) });
    expect(progress.topics?.length).toBeGreaterThan(1);
    const wrong = await world.submit({ ...target, handler: "decide" }, { decision: "maybe" }, "wrong");
    expect(await world.finish(wrong)).toMatchObject({ failure: { code: 400 } });
    await world.finish(await world.submit({ ...target, handler: "decide" }, APPROVE));
    expect(reportIn(await world.finish(run)).question).toBe(question);
    const late = await world.submit({ ...target, handler: "decide" }, APPROVE, "late");
    expect(await world.finish(late)).toMatchObject({ failure: { code: 409 } });
  });

  test("a question to which the documents have no answer", async () => {
    const { report } = await ask({ question: "xylophone quartets?", approval: "auto" });
    expect(report.markdown).toContain("The documents say nothing about this.");
    expect(report.sources).toEqual([]);
  });

  test("only folders that the server was given are searched", async () => {
    const { result } = await ask({ corpus: "/etc" });
    expect(result).toMatchObject({ failure: { code: 403, message: expect.stringContaining("RESEARCH_CORPUS") } });
  });

  test("an empty folder is said at once", async () => {
    const { result } = await ask({}, [], await load({ RESEARCH_CORPUS: join(data.folder, "none") }));
    expect(result).toMatchObject({ failure: { code: 422, message: expect.stringContaining("does not exist") } });
  });
});

describe("failures", () => {
  test("E2: a crash at any entry changes nothing, and no journaled effect is executed again", async () => {
    const input = { question, topics: 2, rounds: 1 };
    const report = await crashAtEveryEntry({ services, target, input, outside: person(APPROVE) });
    expect(report.crashes).toBeGreaterThan(40);
    expect(reportIn(report.result).sources.length).toBeGreaterThan(0);
  });

  test("tools that fail and a model that answers 429 are tried again until they do not", async () => {
    rmSync(ledger, { force: true });
    const inject = { RESEARCH_INJECT: "tool-errors=0.4,model-429=0.5,seed=5" };
    const { world, report } = await ask({}, [APPROVE], await load(inject));
    expect(report.markdown).toContain("puts it out at sunrise");
    const journals = await Promise.all((await world.runs()).map(({ id }) => world.journal(id)));
    const retries = journals.flat().filter((entry) => entry.kind === "retry");
    const refused = retries.filter(({ failure }) => failure.message === "injected: 429 Too Many Requests");
    expect(retries.length).toBeGreaterThan(refused.length);
    expect(refused.length).toBeGreaterThan(0);
    for (const { at, retryAt = 0 } of refused) expect(retryAt - at).toBeGreaterThanOrEqual(1_000); // Its Retry-After.
    expect(summarise(readLedger(ledger)).repeated).toEqual([]);
  });
});
