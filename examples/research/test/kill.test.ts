// The agent in real processes that really die. Runs what `tsc -b` built, as `npm start` does.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

import { expect, onTestFinished, test } from "vitest";

import { readLedger, summarise } from "../src/ledger.ts";
import type { Report } from "../src/types.ts";
import { folderWith, LIGHTHOUSE } from "./folders.ts";

const question = "When is the lamp lit, and what does the keeper do after a storm?";

const server = fileURLToPath(new URL("./server.ts", import.meta.url));

interface Live {
  readonly child: ChildProcess;
  readonly url: string;
  readonly adminUrl: string;
}

async function start(data: string, env: Readonly<Record<string, string>>): Promise<Live> {
  const child = spawn(process.execPath, [server, join(data, "store")], {
    env: { PATH: process.env["PATH"], RESEARCH_DATA: data, RESEARCH_PACE: "0", ...env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  for await (const line of createInterface({ input: child.stdout })) {
    const [, url, adminUrl] = /^listens at (\S+) and (\S+)$/.exec(line) ?? [];
    if (url !== undefined && adminUrl !== undefined) return { child, url, adminUrl };
  }
  throw new Error("the server ended before it listened");
}

async function ask(url: string, path: string, body?: unknown): Promise<unknown> {
  const headers = { "content-type": "application/json" };
  const post = body === undefined ? {} : { method: "POST", headers, body: JSON.stringify(body) };
  const response = await fetch(`${url}${path}`, post);
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

test("killed after any number of effects, it finishes in the next process and repeats nothing that was journaled", async () => {
  const corpus = folderWith(LIGHTHOUSE);
  for (const effects of [1, 4, 9]) {
    const data = folderWith();
    const env = {
      RESEARCH_CORPUS: corpus,
      RESEARCH_INJECT: `crash-after=${effects},tool-errors=0.2,seed=3`,
    };
    const first = await start(data, env);
    await ask(first.url, "/research/demo/run/send", { question, approval: "auto" });
    const [, signal] = (await once(first.child, "exit")) as [number | null, string | null];
    expect(signal).toBe("SIGKILL");

    const second = await start(data, env);
    const report = (await ask(second.url, "/perdure/workflows/research/demo/attach")) as Report;
    expect(report.markdown).toContain("puts it out at sunrise");
    const { effects: executed, processes, repeated } = summarise(readLedger(join(data, "ledger.jsonl")));
    expect(processes).toBe(2);
    expect(executed).toBeGreaterThan(effects);
    // Those alone whose result was not on disk yet when the process died: at most what ran beside the last one.
    expect(repeated.length).toBeLessThanOrEqual(4);
    expect(repeated.every(({ times }) => times === 2)).toBe(true);
    second.child.kill("SIGTERM");
  }
});

test("ask, in a process of its own, shows how far it is and prints the report", async () => {
  const { url, adminUrl } = await start(folderWith(), { RESEARCH_CORPUS: folderWith(LIGHTHOUSE) });
  const program = fileURLToPath(new URL("../src/ask.ts", import.meta.url));
  const options = ["--auto-approve", "--topics=1", "--url", url, "--admin", adminUrl];
  const child = spawn(process.execPath, [program, question, ...options], { stdio: ["ignore", "pipe", "pipe"] });
  const [report, progress] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(report).toContain("puts it out at sunrise");
  expect(progress).toMatch(/research ask-\w+ is run_1\w+/);
  expect(progress).toContain("saved in ");
});
