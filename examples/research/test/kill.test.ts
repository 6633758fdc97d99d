// The agents in real processes that really die. Runs what `tsc -b` built, as `npm start` does.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import type { AgentAnswer, AgentEvent } from "perdure";
import { describe, expect, onTestFinished, test } from "vitest";

import { readLedger, summarise, type LedgerLine } from "../src/ledger.ts";
import { folderWith, LIGHTHOUSE } from "./folders.ts";

const question = "When is the lamp lit, and what does the keeper do after a storm?";
const server = fileURLToPath(new URL("./server.ts", import.meta.url));

class Live {
  readonly child: ChildProcess;
  readonly #url: string;
  readonly #adminUrl: string;

  constructor(child: ChildProcess, url: string, adminUrl: string) {
    this.child = child;
    this.#url = url;
    this.#adminUrl = adminUrl;
  }

  static async start(data: string, memory: string, env: Readonly<Record<string, string>> = {}): Promise<Live> {
    const child = spawn(process.execPath, [server, join(data, "store")], {
      env: {
        PATH: process.env["PATH"],
        RESEARCH_DATA: data,
        RESEARCH_CORPUS: join(data, "corpus"),
        RESEARCH_PACE: "0",
        RESEARCH_MEMORY: memory,
        ...env,
      },
      stdio: ["ignore", "pipe", "ignore"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    for await (const line of createInterface({ input: child.stdout })) {
      const [, url, adminUrl] = /^listens at (\S+) and (\S+)$/.exec(line) ?? [];
      if (url !== undefined && adminUrl !== undefined) return new Live(child, url, adminUrl);
    }
    throw new Error("the server ended before it listened");
  }

  async send(text: string): Promise<string> {
    return ((await this.ask("/researcher/demo/send/send", { text })) as { runId: string }).runId;
  }

  /** The answer; approvals that come up are given meanwhile. */
  async answer(run: string): Promise<AgentAnswer> {
    let answered = false;
    const answer = this.ask(`/perdure/runs/${run}/attach`).finally(() => (answered = true));
    answer.catch(() => undefined); // It is awaited below.
    while (!answered) {
      await Promise.race([answer, pause()]);
      await this.#approveAll();
    }
    return (await answer) as AgentAnswer;
  }

  async #approveAll(): Promise<void> {
    const response = await fetch(`${this.#adminUrl}/approvals?status=open`);
    const { approvals } = (await response.json()) as { readonly approvals: readonly { readonly id: string }[] };
    for (const { id } of approvals) await this.ask(`/perdure/approvals/${id}`, { decision: "approved", by: "ada" });
  }

  async events(): Promise<readonly AgentEvent[]> {
    const path = "/perdure/streams/researcher/demo/events?follow=false&limit=1000";
    const { items } = (await this.ask(path)) as { readonly items: readonly { readonly item: AgentEvent }[] };
    return items.map(({ item }) => item);
  }

  /** Until there is one. */
  async event(isIt: (event: AgentEvent) => boolean): Promise<AgentEvent> {
    for (;;) {
      const found = (await this.events()).find(isIt);
      if (found !== undefined) return found;
      await pause();
    }
  }

  async kill(): Promise<void> {
    this.child.kill("SIGKILL");
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, "exit");
  }

  async ask(path: string, body?: unknown): Promise<unknown> {
    const headers = { "content-type": "application/json" };
    const post = body === undefined ? {} : { method: "POST", headers, body: JSON.stringify(body) };
    const response = await fetch(`${this.#url}${path}`, post);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));
const newData = (): string =>
  folderWith(Object.fromEntries(Object.entries(LIGHTHOUSE).map(([path, text]) => [`corpus/${path}`, text])));

function paidTwice(lines: readonly LedgerLine[]): readonly string[] {
  const models = lines.filter(({ kind }) => kind === "model");
  return summarise(models).repeated.map(({ idempotencyKey }) => idempotencyKey);
}

// Processes that bundle code when they start take their time on a busy machine.
describe.each(["journal", "snapshot"])("with memory: %s", { timeout: 240_000 }, (memory) => {
  test.each([1, 4, 7])(
    "killed after %i effects, it finishes in the next process and repeats nothing that was journaled",
    async (effects) => {
      const data = newData();
      const first = await Live.start(data, memory, { RESEARCH_INJECT: `crash-after=${effects},seed=3` });
      const exit = once(first.child, "exit");
      const run = await first.send(question);
      const answering = first.answer(run).catch(() => undefined); // It dies meanwhile.
      expect((await exit)[1]).toBe("SIGKILL");
      await answering;

      const second = await Live.start(data, memory);
      const { text } = await second.answer(run);
      expect(text).toContain("puts it out at sunrise");
      const lines = readLedger(join(data, "ledger.jsonl"));
      expect(summarise(lines)).toMatchObject({ processes: 2 });
      expect(lines.length).toBeGreaterThan(effects);
      expect(paidTwice(lines)).toEqual([]);
      // Of the tools those alone that ran side by side with the last one, whose results were not on disk yet.
      expect(summarise(lines).repeated.length).toBeLessThanOrEqual(2);
    },
  );

  test("kill -9 in the middle of an answer: what was settled is not asked for again, what was cut begins anew", async () => {
    const data = newData();
    const ledger = join(data, "ledger.jsonl");
    const first = await Live.start(data, memory);
    const run = await first.send(question);
    await first.event(({ type }) => type === "approval-asked");
    await first.kill();
    const before = readLedger(ledger);

    // So slow that the next answer cannot end by itself.
    const second = await Live.start(data, memory, { RESEARCH_PACE: "600s" });
    const steering = await second.send("what about the supply boat?");
    const [approval] = (await second.events()).flatMap((event) =>
      event.type === "approval-asked" ? [event.approval] : [],
    );
    await second.ask(`/perdure/approvals/${approval}`, { decision: "rejected", by: "ada" });
    const isNew = (event: AgentEvent): boolean => event.type === "part" && event.part.type === "reasoning-delta";
    const seen = (await second.events()).filter(isNew).length;
    while ((await second.events()).filter(isNew).length === seen) await pause();
    await second.kill();
    expect(readLedger(ledger).filter(({ kind }) => kind === "model")).toHaveLength(
      before.filter(({ kind }) => kind === "model").length + 1, // The judgement of the message; the cut answer is not paid.
    );

    const third = await Live.start(data, memory);
    const answer = await third.answer(run);
    expect(answer.text).toContain("every second Monday");
    expect(await third.answer(steering)).toEqual(answer);
    expect(paidTwice(readLedger(ledger))).toEqual([]);
    const starts = (await third.events()).filter((event) => event.type === "call-start");
    const tries = Map.groupBy(starts, ({ call }) => call);
    expect([...tries.values()].filter((some) => some.length > 1)).toHaveLength(1); // The one that was cut.
    expect((await third.events()).filter(({ type }) => type === "turn-start")).toHaveLength(1);
  });

  test("tools that fail and a model that answers 429 are tried again until they do not", async () => {
    const data = newData();
    const live = await Live.start(data, memory, { RESEARCH_INJECT: "tool-errors=0.4,model-429=0.3,seed=5" });
    const { text } = await live.answer(await live.send(question));
    expect(text).toContain("puts it out at sunrise");
    const failed = (await live.events()).filter((event) => event.type === "call-end" && event.outcome === "failed");
    expect(JSON.stringify(failed)).toContain("429");
    expect(Math.max(...readLedger(join(data, "ledger.jsonl")).map(({ attempt }) => attempt))).toBeGreaterThan(1);
    expect(summarise(readLedger(join(data, "ledger.jsonl"))).repeated).toEqual([]);
  });
});
