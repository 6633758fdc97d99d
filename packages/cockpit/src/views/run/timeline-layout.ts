// The waterfall: a row for each command and each thing that came from outside, with what it did when
// ===================================================================================================
// Pure: a journal and a run give rows, whose times are milliseconds since the epoch.
//
// W1. A row stands where its command stands in the journal; completions and retries are parts of their command's row.
// W2. A step whose result stands in the same entry was written when it was done: it began, at the earliest, when the entry
//     before it was written. Such a beginning is `guessed`.
// W3. The segments of a row follow each other without overlap.
// W4. What is not over ends with the run, or goes on (`to` null).
// W5. A fork has entries that are older than itself: the line begins with the first of them.

import {
  COMPLETABLE,
  isFinished,
  type CommandType,
  type EntryView,
  type RunId,
  type RunSummary,
} from "@perdure/protocol";

export type SegmentKind =
  /** It did something. */
  | "work"
  /** It waited for a time, another run, a person. */
  | "wait"
  /** A try that failed. */
  | "failed"
  /** Between two tries. */
  | "pause";

export interface Segment {
  readonly kind: SegmentKind;
  readonly from: number;
  /** Null: it goes on. */
  readonly to: number | null;
}

type Outcome = "open" | "ok" | "failed" | "none";

export interface Row {
  /** The entry that it is. */
  readonly index: number;
  readonly entry: EntryView;
  /** The completion, where that is an entry of its own. */
  readonly completion: Extract<EntryView, { kind: "completion" }> | null;
  readonly retries: readonly Extract<EntryView, { kind: "retry" }>[];
  readonly from: number;
  readonly to: number | null;
  /** W2 */
  readonly isGuessed: boolean;
  readonly segments: readonly Segment[];
  readonly outcome: Outcome;
  readonly child: RunId | null;
}

export interface Timeline {
  readonly rows: readonly Row[];
  readonly from: number;
  /** Null: it goes on. */
  readonly to: number | null;
}

type CommandEntry = Extract<EntryView, { kind: "command" }>;
type Completion = Extract<EntryView, { kind: "completion" }>;
type Retry = Extract<EntryView, { kind: "retry" }>;

export function layoutTimeline(
  run: Pick<RunSummary, "createdAt" | "finishedAt" | "status">,
  entries: readonly EntryView[],
): Timeline {
  const created = Date.parse(run.createdAt);
  const from = Math.min(created, Date.parse(entries[0]?.at ?? run.createdAt)); // W5
  const end = isFinished(run.status) ? Date.parse(run.finishedAt ?? run.createdAt) : null;
  const { commands, completions, retries } = sort(entries);
  const rows: Row[] = [];
  let before = from;
  for (const entry of entries) {
    const at = Date.parse(entry.at);
    if (entry.kind === "command") {
      rows.push(commandRow(entry, completions.get(entry.id) ?? null, retries.get(entry.id) ?? [], before, end));
    } else if (!isPartOfCommand(entry, commands)) rows.push(pointRow(entry, end));
    before = at;
  }
  return { rows, from, to: end };
}

function sort(entries: readonly EntryView[]): {
  readonly commands: ReadonlySet<number>;
  readonly completions: ReadonlyMap<number, Completion>;
  readonly retries: ReadonlyMap<number, Retry[]>;
} {
  const commands = new Set<number>();
  const completions = new Map<number, Completion>();
  const retries = new Map<number, Retry[]>();
  for (const entry of entries) {
    if (entry.kind === "command") commands.add(entry.id);
    if (entry.kind === "completion") completions.set(entry.id, entry);
    if (entry.kind !== "retry" || entry.id === 0) continue;
    const known = retries.get(entry.id);
    if (known === undefined) retries.set(entry.id, [entry]);
    else known.push(entry);
  }
  return { commands, completions, retries };
}

/** W1 */
function isPartOfCommand(entry: EntryView, commands: ReadonlySet<number>): boolean {
  return (entry.kind === "completion" || entry.kind === "retry") && commands.has(entry.id);
}

function commandRow(
  entry: CommandEntry,
  completion: Completion | null,
  retries: readonly Retry[],
  before: number,
  end: number | null,
): Row {
  const at = Date.parse(entry.at);
  const result = entry.result ?? completion?.result;
  const isGuessed = entry.command.type === "step" && entry.result !== undefined && completion === null;
  const isOver = entry.result !== undefined || !COMPLETABLE.has(entry.command.type);
  const from = isGuessed ? before : at;
  const to = completion !== null ? Date.parse(completion.at) : isOver ? at : end;
  const outcome: Outcome =
    result === undefined ? (isOver ? "none" : "open") : result.kind === "failure" ? "failed" : "ok";
  return {
    index: entry.index,
    entry,
    completion,
    retries,
    from,
    to,
    isGuessed,
    segments: segmentsOf(entry.command.type, from, to, retries, outcome),
    outcome,
    child: entry.child ?? null,
  };
}

const WAITS: ReadonlySet<CommandType> = new Set<CommandType>(["sleep", "call", "getPromise", "attach"]);

/** W3 */
function segmentsOf(
  type: CommandType,
  from: number,
  to: number | null,
  retries: readonly Retry[],
  outcome: Outcome,
): readonly Segment[] {
  const segments: Segment[] = [];
  let at = from;
  for (const retry of retries) {
    const failedAt = Math.max(at, Date.parse(retry.at));
    segments.push({ kind: "failed", from: at, to: failedAt });
    const again = retry.retryAt === undefined ? to : Date.parse(retry.retryAt);
    const pauseEnd = again === null ? null : Math.max(failedAt, to === null ? again : Math.min(again, to));
    segments.push({ kind: "pause", from: failedAt, to: pauseEnd });
    if (pauseEnd === null) return segments;
    at = pauseEnd;
  }
  const kind: SegmentKind = outcome === "failed" && type === "step" ? "failed" : WAITS.has(type) ? "wait" : "work";
  segments.push({ kind, from: at, to: to === null ? null : Math.max(at, to) });
  return segments;
}

/** A signal, a person's resume, a failure of the handler itself: a point in time. */
function pointRow(entry: Exclude<EntryView, CommandEntry>, end: number | null): Row {
  const at = Date.parse(entry.at);
  const isRetry = entry.kind === "retry";
  const again = isRetry && entry.retryAt !== undefined ? Date.parse(entry.retryAt) : null;
  const to = isRetry ? (again ?? end) : at;
  const bounded = to !== null && end !== null ? Math.min(to, Math.max(end, at)) : to;
  return {
    index: entry.index,
    entry,
    completion: null,
    retries: isRetry ? [entry] : [],
    from: at,
    to: bounded,
    isGuessed: false,
    segments: isRetry ? [{ kind: "pause", from: at, to: bounded }] : [{ kind: "work", from: at, to: at }],
    outcome: isRetry ? "failed" : "none",
    child: null,
  };
}
