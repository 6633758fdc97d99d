// One run, to be read from top to bottom: what it is, what it did when, what it waits for, what can be done.

import { isFinished, type EntryView, type RunDetail, type RunView, type WaitView } from "@perdure/protocol";
import { commandText, entryText, outcomeText, retryText, waitText } from "./describe-entry.ts";
import { paintStatus, type Paint } from "./style.ts";
import { targetText } from "./target.ts";
import { cut, padEnd, padStart, plural, printable, shellQuote } from "./text.ts";
import { ago, clockTime, roundDuration } from "./time-text.ts";
import { failureText, payloadText, resultText, type ValueOptions } from "./values.ts";

export interface TimelineOptions {
  readonly paint: Paint;
  /** Columns of the terminal; undefined in a pipe. */
  readonly width: number | undefined;
  readonly now: number;
  /** Whole payloads. */
  readonly full: boolean;
  /** A command as it is to be typed. */
  readonly commandLine: (...words: readonly string[]) => string;
}

type Line = string;

const LABEL_WIDTH = 11;
/** What a value may take on a line where nobody asked for all of it. */
const VALUE_WIDTH = 160;

export function headerLines({ run, live }: RunDetail, options: TimelineOptions): readonly Line[] {
  const { paint, now } = options;
  const label = (name: string, text: string): Line => `  ${paint("dim", padEnd(name, LABEL_WIDTH))}${text}`;
  const lines = [
    `${paint("bold", run.id)}  ${printable(targetText(run))}`,
    label("status", statusText(run, live, options)),
  ];
  lines.push(label("created", `${clockTime(Date.parse(run.createdAt))} (${ago(Date.parse(run.createdAt), now)})`));
  if (run.scheduledAt !== null)
    lines.push(
      label("scheduled", `${clockTime(Date.parse(run.scheduledAt))} (${ago(Date.parse(run.scheduledAt), now)})`),
    );
  if (run.finishedAt !== null) {
    const took = roundDuration(Date.parse(run.finishedAt) - Date.parse(run.createdAt));
    lines.push(label("finished", `${clockTime(Date.parse(run.finishedAt))} (took ${took})`));
  }
  if (run.parent !== null)
    lines.push(
      label(
        "parent",
        `${run.parent.runId}, command #${run.parent.command}${run.parent.awaited ? "" : ", does not wait for it"}`,
      ),
    );
  if (run.forkedFrom !== null) lines.push(label("origin", `${run.forkedFrom.runId}, at entry ${run.forkedFrom.entry}`));
  if (run.deployment !== null) lines.push(label("deployment", printable(run.deployment)));
  if (run.generation > 0) lines.push(label("restarted", plural(run.generation, "time")));
  if (run.idempotencyKey !== null) lines.push(label("idempotent", printable(run.idempotencyKey)));
  const value = valueOptions(options, LABEL_WIDTH + 2);
  if (run.input !== null) lines.push(label("input", payloadText(run.input, value)));
  if (run.result !== null)
    lines.push(label(run.result.kind === "failure" ? "failure" : "result", resultText(run.result, value)));
  return lines;
}

function valueOptions(options: TimelineOptions, used: number): ValueOptions {
  if (options.full) return { paint: options.paint, width: undefined };
  return {
    paint: options.paint,
    width: Math.max(20, Math.min(VALUE_WIDTH, (options.width ?? VALUE_WIDTH + used) - used)),
  };
}

function statusText(run: RunView, live: boolean, options: TimelineOptions): string {
  const { paint, now } = options;
  const parts = [paintStatus(paint, run.status)];
  if (!isFinished(run.status)) parts.push(`for ${roundDuration(now - Date.parse(run.changedAt))}`);
  if (live && run.status !== "running") parts.push("(still in memory)");
  if (run.cancelling !== null)
    parts.push(`(being cancelled: waits for ${plural(run.cancelling.waitingFor.length, "child", "children")})`);
  return parts.join(" ");
}

// Entries
// -------

/** @param entries in order; where they do not begin with the first one, the earlier ones are left out. */
export function entryLines(entries: readonly EntryView[], run: RunView, options: TimelineOptions): readonly Line[] {
  const began = Date.parse(run.createdAt);
  const commands = new Map<number, EntryView>();
  for (const entry of entries) if (entry.kind === "command") commands.set(entry.id, entry);
  const completions = new Map<number, Extract<EntryView, { kind: "completion" }>>();
  for (const entry of entries)
    if (entry.kind === "completion" && commands.has(entry.id)) completions.set(entry.id, entry);
  const rows: { readonly number: string; readonly at: string; readonly text: Line; readonly took: string }[] = [];
  let previous = began;
  for (const entry of entries) {
    const at = Date.parse(entry.at);
    const isShownAbove = entry.kind === "completion" && completions.has(entry.id);
    if (!isShownAbove) {
      const row = rowOf(entry, completions, at, previous, options);
      rows.push({ number: String(entry.index), at: `+${roundDuration(at - began)}`, ...row });
    }
    previous = at;
  }
  const width = (name: "number" | "at" | "took"): number => Math.max(0, ...rows.map((row) => row[name].length));
  const widths = { number: width("number"), at: width("at"), took: width("took") };
  return rows.map(({ number, at, took, text }) => {
    const head = `  ${padStart(number, widths.number)}  ${padStart(at, widths.at)}  ${padStart(took, widths.took)}  `;
    return `${options.paint("dim", head)}${text}`;
  });
}

function rowOf(
  entry: EntryView,
  completions: ReadonlyMap<number, Extract<EntryView, { kind: "completion" }>>,
  at: number,
  previous: number,
  options: TimelineOptions,
): { readonly text: Line; readonly took: string } {
  const value = valueOptions(options, 60);
  if (entry.kind === "retry") return { text: retryText(entry, value), took: "" };
  if (entry.kind !== "command") return { text: entryText(entry, value), took: "" };
  const completion = completions.get(entry.id);
  const result = entry.result ?? completion?.result;
  const isEffect = entry.command.type === "step";
  // A step is written when it is done: it took at most the time since the entry before it.
  const took =
    completion !== undefined
      ? roundDuration(Date.parse(completion.at) - at)
      : isEffect && entry.result !== undefined
        ? `≤${roundDuration(at - previous)}`
        : "";
  const name = options.paint("bold", `#${entry.id}`);
  const child = entry.child === undefined ? "" : options.paint("dim", ` as ${entry.child}`);
  const outcome = outcomeText(entry.command, result, entry.kept ?? completion?.kept, value);
  return { text: `${name} ${commandText(entry.command, value)}${child}${outcome}`, took };
}

// What can be done
// ----------------

/** @param entries those that are known, for what a time is about. */
export function waitLines(detail: RunDetail, entries: readonly EntryView[], options: TimelineOptions): readonly Line[] {
  const { run, waits } = detail;
  const { paint, commandLine } = options;
  const lines: Line[] = [];
  if (waits.length > 0) lines.push(paint("bold", waits.length === 1 ? "waits for" : "waits for any of"));
  for (const wait of waits) {
    const when = "at" in wait ? ` (${ago(Date.parse(wait.at), options.now)})` : "";
    lines.push(`  ${wait.kind === "time" ? purposeOf(wait.at, run, entries) : ""}${waitText(wait)}${when}`);
    for (const line of answers(wait, run)) lines.push(`    ${paint("cyan", commandLine(...line))}`);
  }
  if (run.retry !== null && run.status === "retrying") {
    const next = run.retry.at === null ? "" : `; next try ${ago(Date.parse(run.retry.at), options.now)}`;
    lines.push(
      paint(
        "yellow",
        `failed ${plural(run.retry.tries, "time")}: ${failureText(run.retry.failure, options.full ? undefined : VALUE_WIDTH)}${next}`,
      ),
    );
    lines.push(`    ${paint("cyan", commandLine("resume", run.id))}   tries again now`);
  }
  if (run.status === "paused") lines.push(...pausedLines(run, options));
  return lines;
}

/** A step that is tried again later leaves its run suspended: only the journal tells what the time is for. */
function purposeOf(at: string, run: RunView, entries: readonly EntryView[]): string {
  const retry = entries.findLast((entry) => entry.kind === "retry" && entry.retryAt === at);
  if (retry?.kind === "retry") return `the next try of ${retry.id === 0 ? "the handler" : `#${retry.id}`} at `;
  if (run.status === "retrying") return "the next try at ";
  return run.status === "scheduled" ? "its start at " : "";
}

function answers(wait: WaitView, run: RunView): readonly (readonly string[])[] {
  if (wait.kind === "awakeable")
    return [
      ["resolve", wait.id, "'<json>'"],
      ["reject", wait.id, "'<reason>'"],
    ];
  if (wait.kind === "signal" && wait.signal !== 1)
    return [["signal", run.id, shellQuote(String(wait.signal)), "'<json>'"]];
  return [];
}

const UNKNOWN_EFFECT = "P0011";

function pausedLines(run: RunView, options: TimelineOptions): readonly Line[] {
  const { paint, commandLine } = options;
  const failure = run.pausedBy;
  const lines: Line[] = [];
  if (failure !== null) {
    const [first = "", ...more] = failure.message.split("\n");
    lines.push(
      paint("red", `paused: ${failure.errorCode === undefined ? "" : `${failure.errorCode} `}${printable(first)}`),
    );
    for (const line of more) lines.push(`  ${printable(line)}`);
  }
  const offer = (words: readonly string[], what: string): void =>
    void lines.push(`    ${paint("cyan", commandLine(...words))}   ${what}`);
  if (failure?.errorCode === UNKNOWN_EFFECT) {
    const command = failure.metadata?.["command"] ?? "<command>";
    offer(["settle", run.id, command, "--happened", "'<json>'"], "it happened, with this result");
    offer(["settle", run.id, command, "--not-happened"], "it did not: do it");
    offer(["settle", run.id, command, "--failed", "'<message>'"], "it failed for good");
  } else offer(["resume", run.id], "goes on, with fresh retries");
  offer(["restart", run.id, "--from", "<entry>"], "forgets that entry and all after it");
  offer(["fork", run.id, "--at", "<entry>"], "goes on from that entry as another run");
  offer(["cancel", run.id], "ends it");
  return lines;
}

/** For lists: why it is where it is, in a few words. */
export function briefReason(
  run: Pick<RunView, "failure" | "retry" | "pausedBy" | "awaiting" | "status" | "scheduledAt">,
  now: number,
  width: number,
): string {
  if (run.failure !== null) return failureText(run.failure, width);
  if (run.pausedBy !== null && run.status === "paused") return failureText(run.pausedBy, width);
  if (run.retry !== null && run.status === "retrying") {
    const next = run.retry.at === null ? "" : `, next ${ago(Date.parse(run.retry.at), now)}`;
    return cut(`${plural(run.retry.tries, "try", "tries")} failed${next}: ${run.retry.failure.message}`, width);
  }
  if (run.status === "scheduled" && run.scheduledAt !== null) return ago(Date.parse(run.scheduledAt), now);
  const awakeable = run.awaiting?.find((awaiting) => awaiting.kind === "signal");
  if (awakeable?.kind === "signal")
    return awakeable.awakeable === undefined
      ? `waits for signal ${String(awakeable.signal)}`
      : "waits for an awakeable";
  return "";
}
