// One action on many runs, some of them chosen by hand or all that a filter finds, with its progress
// =================================================================================================
// A1. Every run is acted on for itself: one that fails is a line in `failed`, not the end of the whole.
// A2. `signal` ends it between two runs; what was done stays done.
// A3. Only runs that were shown are acted on: where the page leaves some out, so does the action.
//
// What the API does in bulk (cancel, kill, pause, resume by a filter) is one request, where nothing is left out; the rest
// goes run by run.

import type { BulkAnswer, RunFilterBody, RunId, RunPage, RunStatus, RunSummary } from "@perdure/protocol";
import { path, type ApiClient } from "../../api/client.ts";

export type RunAction = "cancel" | "kill" | "pause" | "resume" | "restart" | "purge";

export interface Progress {
  readonly done: number;
  /** Null: not counted yet. */
  readonly total: number | null;
  readonly failed: readonly { readonly runId: RunId; readonly message: string }[];
  readonly isOver: boolean;
}

export type Chosen =
  | { readonly kind: "ids"; readonly ids: readonly RunId[] }
  /** `accepts`: which of those that the filter finds are meant; absent: all. */
  | { readonly kind: "filter"; readonly filter: RunFilterBody; readonly accepts?: (run: RunSummary) => boolean };

export interface ManyOptions {
  readonly onProgress: (progress: Progress) => void;
  readonly signal: AbortSignal;
}

type Api = Pick<ApiClient, "get" | "post">;

const AT_ONCE = 8;
const PAGE = 500;
const FAILURES_KEPT = 1_000;

export async function actOnMany(api: Api, action: RunAction, chosen: Chosen, options: ManyOptions): Promise<Progress> {
  if (chosen.kind === "ids") return actOneByOne(api, action, chosen.ids, options);
  if (isBulk(action, chosen)) return actInBulk(api, action, chosen.filter, options);
  return actOneByOne(api, action, await idsOf(api, action, chosen, options.signal), options);
}

/** How many the action applies to. */
export async function countChosen(api: Api, action: RunAction, chosen: Chosen, signal: AbortSignal): Promise<number> {
  if (chosen.kind === "ids") return chosen.ids.length;
  if (!isBulk(action, chosen)) return (await idsOf(api, action, chosen, signal)).length;
  return (await api.post<BulkAnswer>(`/runs/${action}`, { filter: chosen.filter, dryRun: true })).matched;
}

type ByFilter = Extract<Chosen, { kind: "filter" }>;

function isBulk(action: RunAction, { accepts }: ByFilter): boolean {
  return accepts === undefined && action !== "restart" && action !== "purge";
}

const OPEN: readonly RunStatus[] = ["scheduled", "queued", "running", "suspended", "retrying", "paused"];
const FINISHED: readonly RunStatus[] = ["succeeded", "failed", "cancelled", "killed"];
/** Statuses in which an action means something. */
const APPLIES: Readonly<Record<RunAction, readonly RunStatus[]>> = {
  cancel: OPEN,
  kill: OPEN,
  pause: ["running", "suspended", "retrying"],
  resume: ["paused", "retrying"],
  restart: [...FINISHED, "paused", "retrying"],
  purge: FINISHED,
};

async function actInBulk(
  api: Api,
  action: string,
  filter: RunFilterBody,
  { onProgress }: ManyOptions,
): Promise<Progress> {
  onProgress({ done: 0, total: null, failed: [], isOver: false });
  const answer = await api.post<BulkAnswer>(`/runs/${action}`, { filter, all: true });
  const progress = { done: answer.done, total: answer.matched, failed: answer.failed, isOver: true };
  onProgress(progress);
  return progress;
}

async function idsOf(
  api: Api,
  action: RunAction,
  { filter, accepts = () => true }: ByFilter,
  signal: AbortSignal,
): Promise<readonly RunId[]> {
  const status = APPLIES[action].filter((one) => filter.status?.includes(one) ?? true);
  if (status.length === 0) return [];
  const ids: RunId[] = [];
  let cursor: number | null = null;
  do {
    const query = { ...filter, status, order: "oldest", limit: PAGE, ...(cursor === null ? {} : { cursor }) };
    const page: RunPage = await api.get<RunPage>("/runs", { query, signal });
    for (const run of page.runs) if (accepts(run)) ids.push(run.id);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return ids;
}

async function actOneByOne(
  api: Api,
  action: RunAction,
  ids: readonly RunId[],
  { onProgress, signal }: ManyOptions,
): Promise<Progress> {
  const failed: { runId: RunId; message: string }[] = [];
  let done = 0;
  let next = 0;
  const told = (isOver: boolean): Progress => ({ done, total: ids.length, failed: [...failed], isOver });
  const work = async (): Promise<void> => {
    while (next < ids.length && !signal.aborted) {
      const id = ids[next];
      next += 1;
      if (id === undefined) return;
      try {
        await api.post(path`/runs/${id}/` + action);
        done += 1;
      } catch (error) {
        if (failed.length < FAILURES_KEPT) failed.push({ runId: id, message: (error as Error).message });
      }
      onProgress(told(false));
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, ids.length) }, work));
  onProgress(told(true));
  return told(true);
}
