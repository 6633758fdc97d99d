// The desk: everything that the agent does to the world, ready to be handed to its tools
// ======================================================================================
// Each function here is one effect. It happens once per result in the journal, is noted in the ledger outside of it, and may
// be hit by an injected failure; agent.ts knows nothing of all that.
//
// It runs in Node also where the agents themselves live in isolates: that is what the directive says.

"use host";

import { createHash } from "node:crypto";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { TerminalError, type StepInfo, type ToolInfo } from "perdure";

import { CorpusError, openLibrary, type Library } from "./corpus/library.ts";
import { writeLine } from "./ledger.ts";
import { askRelevance, type Relevance } from "./model/relevance.ts";
import { problemsOf } from "./report.ts";
import { injection, model, settings } from "./setup.ts";

export { model } from "./setup.ts";

/** How the agents' turns are remembered. */
export const MEMORY = settings.memory;
/** What a session and its sub-agents may use. */
export const BUDGET_TOKENS = settings.budgetTokens;

/** A tool's failure is tried again soon; after the last try the model is told of it. */
export const RETRY = { initial: "200ms", maxAttempts: 10 } as const;

const SEARCH_HITS = 8;

export interface Found {
  /** `path:line`: reads as a citation, too. */
  readonly page: string;
  readonly heading: string;
}

export interface Page extends Found {
  readonly text: string;
}

export function search({ query }: { readonly query: string }, info: ToolInfo): Promise<readonly Found[]> {
  return effect(`search: ${query}`, info, async () =>
    (await library()).search(query, SEARCH_HITS).map(({ id, heading }) => ({ page: id, heading })),
  );
}

export function readPages({ pages }: { readonly pages: readonly string[] }, info: ToolInfo): Promise<readonly Page[]> {
  return effect(`read ${pages.length} pages`, info, async () => {
    const found = (await library()).read(pages).map(({ id, heading, text }) => ({ page: id, heading, text }));
    if (found.length === 0) throw new TerminalError(`there is none of these pages: ${pages.join(", ")}`);
    return found;
  });
}

interface Report {
  readonly title: string;
  readonly markdown: string;
}

/** Atomic and repeatable: the file is there as a whole, or not at all; a second try writes the same one. */
export function publish({ title, markdown }: Report, info: ToolInfo): Promise<{ readonly file: string }> {
  return effect(`publish: ${title}`, info, async () => {
    const { read } = await library();
    const problems = problemsOf(markdown, (page) => read([page]).length > 0);
    if (problems.length > 0) throw new TerminalError(`not published: ${problems.join("; ")}`);
    const folder = join(settings.data, "reports");
    const file = join(folder, fileName(title, info.idempotencyKey));
    await mkdir(folder, { recursive: true });
    await writeFile(`${file}.part`, markdown, { flush: true });
    await rename(`${file}.part`, file);
    return { file };
  });
}

/** Of a title that anybody may have chosen, told apart by the call that publishes it. */
function fileName(title: string, idempotencyKey: string): string {
  const words = title.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const hash = createHash("sha256").update(idempotencyKey).digest("hex").slice(0, 6);
  return `${[...words.slice(0, 8), hash].join("-")}.md`;
}

/** What a message means for the work that is under way: the model's own judgement. */
export function relevance(task: string, message: string, { idempotencyKey, signal }: StepInfo): Promise<Relevance> {
  return askRelevance(model, task, message, { idempotencyKey, signal });
}

async function library(): Promise<Library> {
  try {
    return await openLibrary(settings.corpus, settings.project);
  } catch (error) {
    // Trying again would not make documents appear.
    if (error instanceof CorpusError) throw new TerminalError(error.message, { status: 422, cause: error });
    throw error;
  }
}

/** Bookkeeping around a tool's effect. The model keeps its own: see model/choose.ts. */
async function effect<T>(name: string, info: ToolInfo, run: () => Promise<T>): Promise<T> {
  injection.beforeEffect();
  injection.beforeTool(name);
  const result = await run();
  const { idempotencyKey, attempt } = info;
  const at = new Date().toISOString();
  writeLine(settings.ledger, { at, pid: process.pid, kind: "tool", name, idempotencyKey, attempt });
  injection.afterEffect();
  return result;
}
