// The desk: everything that the agent does to the world, ready to be handed to `ctx.step`
// =========================================================================================
// Each function here gives the closure of a step. What happens in it happens once per result in the journal, is noted in
// the ledger, and may be hit by an injected failure; the handlers in agent.ts know nothing of all that.

import { createHash } from "node:crypto";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";

import { TerminalError, type StepInfo } from "perdure";

import { CorpusError, openLibrary, type Hit, type Library } from "./corpus/library.ts";
import type { Passage } from "./corpus/passages.ts";
import { createInjection, parsePlan } from "./inject.ts";
import { writeLine, type LedgerLine } from "./ledger.ts";
import { chooseModel } from "./model/choose.ts";
import type { MaterialFinding } from "./model/material.ts";
import {
  findingsTask,
  planTask,
  reportTask,
  usablePlan,
  type FindingsAnswer,
  type PlanAnswer,
  type ReportAnswer,
  type Task,
} from "./model/tasks.ts";
import { think, type Thought } from "./model/think.ts";
import { readSettings } from "./settings.ts";

export const settings = readSettings(process.env);
const injection = createInjection(parsePlan(settings.inject), settings.data);
export const model = chooseModel(settings.model, injection);

type Closure<T> = (info: StepInfo) => Promise<T>;

/** A tool's failure is tried again soon; a model's too, but never before its `Retry-After`. Then a person is asked. */
export const TOOL = { timeout: "1m", retry: { initial: "200ms", maxAttempts: 10 } } as const;
export const MODEL = { timeout: "3m", retry: { initial: "1s", maxAttempts: 10 } } as const;

const SURVEY_HITS = 40;
const SEARCH_HITS = 12;

// Tools
// -----

/** A first look: what the documents have to do with the question, by their headings. */
export function survey(question: string, corpus?: string): Closure<readonly string[]> {
  return tool("survey", async () => {
    const hits = (await library(corpus)).search(question, SURVEY_HITS);
    return [...new Set(hits.map(({ heading }) => heading))];
  });
}

export function search(query: string, corpus?: string): Closure<readonly Hit[]> {
  return tool(`search: ${query}`, async () => (await library(corpus)).search(query, SEARCH_HITS));
}

export function read(ids: readonly string[], corpus?: string): Closure<readonly Passage[]> {
  return tool(`read ${ids.length} passages`, async () => (await library(corpus)).read(ids));
}

/** Atomic and repeatable: the file is there as a whole, or not at all. */
export function save(id: string, markdown: string): Closure<string> {
  return tool("save", async () => {
    const folder = join(settings.data, "reports");
    const file = join(folder, `${fileName(id)}.md`);
    await mkdir(folder, { recursive: true });
    await writeFile(`${file}.part`, markdown, { flush: true });
    await rename(`${file}.part`, file);
    return file;
  });
}

/** Ids may hold anything; a name that had to be changed gets a hash, so that no two ids share a file. */
function fileName(id: string): string {
  const safe = id
    .replaceAll(/[^\w.-]+/g, "-")
    .replace(/^[.-]+/, "")
    .slice(0, 80);
  return safe === id ? safe : `${safe}-${createHash("sha256").update(id).digest("hex").slice(0, 8)}`;
}

/** @param corpus a folder that a caller asked for: only what was allowed at the start is opened. */
async function library(corpus: string | undefined): Promise<Library> {
  const asked = corpus === undefined ? settings.corpora[0] : resolve(corpus);
  if (asked !== undefined && !settings.corpora.includes(asked)) {
    const message = `the corpus ${asked} is not one of those that this server searches: add it to RESEARCH_CORPUS`;
    throw new TerminalError(message, { status: 403 });
  }
  try {
    return await openLibrary(asked, settings.project);
  } catch (error) {
    // Trying again would not make documents appear.
    if (error instanceof CorpusError) throw new TerminalError(error.message, { status: 422, cause: error });
    throw error;
  }
}

// Model
// -----

export function plan(question: string, headings: readonly string[], count: number): Closure<Thought<PlanAnswer>> {
  return effect("model", "plan", async (info) => {
    const thought = await think(model, planTask(question, headings, count), info);
    return { ...thought, answer: usablePlan(thought.answer, question, count) };
  });
}

export function findings(
  question: string,
  topic: string,
  passages: readonly Passage[],
): Closure<Thought<FindingsAnswer>> {
  return thinking(findingsTask(question, topic, passages));
}

export function write(question: string, found: readonly MaterialFinding[]): Closure<Thought<ReportAnswer>> {
  return thinking(reportTask(question, found));
}

function thinking<T>(task: Task<T>): Closure<Thought<T>> {
  return effect("model", task.name, (info) => think(model, task, info));
}

// Bookkeeping around both
// -----------------------

function tool<T>(name: string, run: Closure<T>): Closure<T> {
  return effect("tool", name, async (info) => {
    injection.beforeTool(name);
    return run(info);
  });
}

function effect<T>(kind: LedgerLine["kind"], name: string, run: Closure<T>): Closure<T> {
  return async (info) => {
    injection.beforeEffect();
    const result = await run(info);
    const { idempotencyKey, attempt } = info;
    const at = new Date().toISOString();
    writeLine(settings.ledger, { at, pid: process.pid, kind, name, idempotencyKey, attempt, ...tokensOf(result) });
    injection.afterEffect();
    return result;
  };
}

function tokensOf(result: unknown): { readonly tokens?: number } {
  const { tokens } = Object(result) as { readonly tokens?: unknown };
  return typeof tokens === "number" ? { tokens } : {};
}
