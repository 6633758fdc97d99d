// Real processes, really killed: a server under load is ended by SIGKILL many times at random moments and started again on
// the same directory. Afterwards every run has ended once, and every effect in the ledger is accounted for (E1, E2, E3, E9).

import { fork, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as later } from "node:timers/promises";
import { openSqliteStore } from "@perdure/host";
import type { RunId } from "@perdure/protocol";
import { afterAll, expect, test } from "vitest";
import type { LedgerLine } from "./handlers.ts";

const KILLS = 8;
const CHAINS = 150;
const DEPOSITS = 60;
const TREES = 30;
const KEYS = 3;

const directory = mkdtempSync(join(tmpdir(), "perdure-chaos-"));
const data = join(directory, "data");
const ledgerFile = join(directory, "ledger");
let child: ChildProcess | null = null;

afterAll(() => {
  child?.kill("SIGKILL");
  rmSync(directory, { recursive: true, force: true });
});

async function startServer(): Promise<string> {
  const server = fork(new URL("server.ts", import.meta.url), [data], {
    execArgv: ["--conditions=perdure-source", "--no-warnings"],
    env: { ...process.env, CHAOS_LEDGER: ledgerFile },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  child = server;
  return new Promise((resolve, reject) => {
    server.once("message", (message: { url: string }) => resolve(message.url));
    server.once("exit", (code) => reject(new Error(`the server ended with ${code} before it listened`)));
  });
}

async function killServer(): Promise<void> {
  const server = child;
  if (server === null) return;
  const exited = new Promise<void>((resolve) => void server.once("exit", () => resolve()));
  server.kill("SIGKILL");
  await exited;
}

interface Submission {
  readonly path: string;
  readonly body: string;
  readonly key: string;
}

function submissions(): Submission[] {
  const all: Submission[] = [];
  for (let i = 0; i < CHAINS; i += 1) all.push({ path: "/chain/go/send", body: '{"steps":6}', key: `chain-${i}` });
  for (let i = 0; i < DEPOSITS; i += 1)
    all.push({ path: `/account/a${i % KEYS}/deposit/send`, body: "1", key: `deposit-${i}` });
  for (let i = 0; i < TREES; i += 1) all.push({ path: "/tree/fanOut/send", body: '{"children":3}', key: `tree-${i}` });
  return all.sort(() => Math.random() - 0.5);
}

/** The run's id once the submission is acknowledged; undefined where the server went down meanwhile. */
async function submit(url: string, { path, body, key }: Submission): Promise<string | undefined> {
  try {
    const answer = await fetch(url + path, {
      method: "POST",
      body,
      headers: { "content-type": "application/json", "idempotency-key": key },
    });
    if (answer.status !== 202) return undefined;
    return ((await answer.json()) as { runId: string }).runId;
  } catch {
    return undefined; // The caller does not know whether it was taken, and asks again with the same key (E9).
  }
}

test(`${KILLS} kills under load lose nothing and repeat no journaled effect`, { timeout: 120_000 }, async () => {
  const open = new Map(submissions().map((submission) => [submission.key, submission]));
  const runs = new Map<string, Set<string>>();
  for (let kill = 0; kill <= KILLS; kill += 1) {
    const url = await startServer();
    const until = Date.now() + 150 + Math.random() * 500;
    const feed = async (): Promise<void> => {
      for (const submission of [...open.values()].slice(0, kill === KILLS ? open.size : Math.ceil(open.size / 3))) {
        const id = await submit(url, submission);
        if (id === undefined) continue;
        runs.set(submission.key, (runs.get(submission.key) ?? new Set()).add(id));
        if (Math.random() < 0.7 || kill === KILLS) open.delete(submission.key); // Some are submitted once more.
      }
    };
    const feeding = feed();
    if (kill === KILLS) {
      await feeding;
      await settle(url, runs.size);
    } else await later(Math.max(0, until - Date.now()));
    await killServer();
    await feeding;
  }
  expect(open.size).toBe(0);
  expect(
    [...runs.values()].every((ids) => ids.size === 1),
    "E9: one key, one run",
  ).toBe(true);
  await checkAgainstLedger();
});

/** Waits until every submitted run and every child has ended. */
async function settle(url: string, count: number): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (Date.now() < deadline) {
    const store = await openSqliteStore({ directory: data, readOnly: true });
    const counts = await store.reader.counts();
    await store.close();
    const unfinished = Object.entries(counts).filter(([status]) => status !== "succeeded");
    if ((counts.succeeded ?? 0) >= count && unfinished.every(([, number]) => number === 0)) return;
    await later(100);
  }
  throw new Error(`not everything ended at ${url}`);
}

async function checkAgainstLedger(): Promise<void> {
  const lines = readFileSync(ledgerFile, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as LedgerLine);
  const store = await openSqliteStore({ directory: data });
  const runs = await store.reader.runs({ order: "oldest", limit: 1_000 });
  expect(runs).toHaveLength(CHAINS + DEPOSITS + TREES + TREES * 3);
  expect(
    runs.every((run) => run.status === "succeeded"),
    "E8: every run has ended",
  ).toBe(true);

  const journaled = new Map<string, string>();
  for (const run of runs)
    for (const [step, nonce] of await journalOf(store.reader, run.id)) journaled.set(`${run.id} ${step}`, nonce);
  const executed = new Set(lines.map((line) => `${line.run} ${line.step} ${line.nonce}`));
  // E1, E2: what a journal says did happen, and it is the value of one real execution.
  for (const [effect, nonce] of journaled)
    expect(executed.has(`${effect} ${nonce}`), `${effect} is journaled and was never executed`).toBe(true);
  // Every effect belongs to a run that is there, and each step was journaled once.
  for (const line of lines)
    expect(
      journaled.has(`${line.run} ${line.step}`),
      `${line.step} of ${line.run} was executed and is not journaled`,
    ).toBe(true);
  // E2: code that ran again saw the journaled value. Had it run on a lost one, or run the step again afterwards, an execution
  // of the next step would be based on another nonce.
  for (const line of lines.filter((other) => /^s[1-9]$/.test(other.step))) {
    const before = `${line.run} s${Number(line.step.slice(1)) - 1}`;
    expect(line.based, `${line.step} of ${line.run}`).toBe(journaled.get(before));
  }
  expectFewRepeats(lines, journaled.size);

  // E3: no deposit was lost or counted twice, though all of a key race for it.
  for (let key = 0; key < KEYS; key += 1) {
    const state = await store.reader.state({ service: "account", key: `a${key}` });
    expect(state.get("balance")).toBe(String(DEPOSITS / KEYS));
    const balances = runs
      .filter((run) => run.key === `a${key}`)
      .map((run) => (run.result?.kind === "value" ? Number(run.result.value) : 0));
    expect(balances.sort((a, b) => a - b)).toEqual(Array.from({ length: DEPOSITS / KEYS }, (_, i) => i + 1));
  }
  await store.close();
}

/** An effect runs again only if the kill cut it: at most once per kill, and only those under way. */
function expectFewRepeats(lines: readonly LedgerLine[], effects: number): void {
  const executions = new Map<string, number>();
  for (const { run, step } of lines) executions.set(`${run} ${step}`, (executions.get(`${run} ${step}`) ?? 0) + 1);
  expect(Math.max(...executions.values())).toBeLessThanOrEqual(KILLS + 1);
  expect(executions.size).toBe(effects);
}

async function journalOf(
  reader: { journal(id: RunId, after: number, limit: number): Promise<readonly { kind: string }[]> },
  id: RunId,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const names = new Map<number, string>();
  type Loose = { kind: string; id: number; command?: { type: string; name: string }; result?: { value?: string } };
  for (const entry of (await reader.journal(id, 0, 1_000)) as readonly Loose[]) {
    if (entry.kind === "command" && entry.command?.type === "step") names.set(entry.id, entry.command.name);
    const name = names.get(entry.id);
    if (name === undefined || (entry.kind !== "command" && entry.kind !== "completion")) continue;
    if (entry.result?.value !== undefined) {
      expect(found.has(name), `J2: ${name} of ${id} is complete twice`).toBe(false);
      found.set(name, JSON.parse(entry.result.value) as string);
    }
  }
  return found;
}
