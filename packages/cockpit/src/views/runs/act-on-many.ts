// One action on many runs, some of them chosen by hand or all that a filter finds, with its progress
// =================================================================================================
// A1. Every run is acted on for itself: one that fails is a line in `failed`, not the end of the whole.
// A2. `stop` ends it between two runs; what was done stays done.
//
// What the API does in bulk (cancel, kill, pause, resume by a filter) is one request; the rest goes run by run.

import type { BulkAnswer, RunFilterBody, RunId, RunPage } from "@perdure/protocol";
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
  | { readonly kind: "filter"; readonly filter: RunFilterBody };

export interface ManyOptions {
  readonly onProgress: (progress: Progress) => void;
  readonly signal: AbortSignal;
}

type Api = Pick<ApiClient, "get" | "post">;

const AT_ONCE = 8;
const PAGE = 500;
const FAILURES_KEPT = 1_000;

export async function actOnMany(api: Api, action: RunAction, chosen: Chosen, options: ManyOptions): Promise<Progress> {
  if (chosen.kind === "filter" && isBulk(action)) return actInBulk(api, action, chosen.filter, options);
  const ids = chosen.kind === "ids" ? chosen.ids : await idsOf(api, chosen.filter, options.signal);
  return actOneByOne(api, action, ids, options);
}

/** How many a filter finds that the action applies to; null where only the doing tells. */
export async function countMatching(api: Api, action: RunAction, filter: RunFilterBody): Promise<number | null> {
  if (!isBulk(action)) return null;
  return (await api.post<BulkAnswer>(`/runs/${action}`, { filter, dryRun: true })).matched;
}

function isBulk(action: RunAction): action is "cancel" | "kill" | "pause" | "resume" {
  return action !== "restart" && action !== "purge";
}

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

async function idsOf(api: Api, filter: RunFilterBody, signal: AbortSignal): Promise<readonly RunId[]> {
  const ids: RunId[] = [];
  let cursor: number | null = null;
  do {
    const { status, ...rest } = filter;
    const query = {
      ...rest,
      ...(status === undefined ? {} : { status }),
      order: "oldest",
      limit: PAGE,
      ...(cursor === null ? {} : { cursor }),
    };
    const page: RunPage = await api.get<RunPage>("/runs", { query, signal });
    for (const { id } of page.runs) ids.push(id);
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
