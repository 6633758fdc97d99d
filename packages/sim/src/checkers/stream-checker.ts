// Streams: a journaled append is in its stream once, where its entry says, with the items that its code asked for (E1, E2);
// what a step returns into a stream stands there as it was returned (E2); what steps write beside that comes from live
// attempts only, as often as they wrote it (E4). Offsets have no gaps, and the storage holds just that (E1).

import type { Mutation } from "@perdure/engine";
import { itemList, type Kept, type Payload, streamText } from "@perdure/protocol";
import type { Observation } from "../observations.ts";
import type { Checker, Committed, Context, SeenAttempt } from "./checker.ts";
import { isCurrent } from "./checker.ts";
import { type ShadowRun, streamsText } from "./shadow.ts";

type Append = Extract<Mutation, { type: "appendStream" }>;
type AppendEntry = Extract<Mutation, { type: "appendEntry" }>;

/** What an attempt asked to be written from within a step, and was not seen yet. */
interface Written {
  readonly attempt: SeenAttempt;
  readonly stream: string;
  readonly writer: string;
  /** As JSON. */
  readonly items: readonly string[];
}

export function createStreamChecker(): Checker {
  const checker = new StreamChecker();
  return {
    name: "streams",
    beforeCommit: () => checker.begin(),
    beforeMutation: (context, mutation, commit) => checker.mutation(context, mutation, commit),
    afterCommit: (context) => checker.end(context),
    observe: (context, observation) => checker.observe(context, observation),
  };
}

class StreamChecker {
  /** Journaled appends of the batch whose entry was not seen yet. */
  #loose: Append[] = [];
  /** Items of appends, and results of steps, by attempt and command. */
  readonly #said: Map<string, Set<string>> = new Map();
  #written: Written[] = [];

  begin(): void {
    this.#loose = [];
  }

  observe(context: Context, observation: Exclude<Observation, Committed>): void {
    if (observation.type === "said") {
      const { attempt, command, payloads } = observation;
      const name = `${attempt} ${command}`;
      const before = this.#said.get(name) ?? new Set();
      this.#said.set(name, before.add(JSON.stringify(payloads)));
    } else if (observation.type === "wrote") {
      const { stream, items, writer } = observation;
      const attempt = context.attempts.get(observation.attempt);
      const texts = items.map((item) => JSON.stringify(item));
      if (attempt !== undefined) this.#written.push({ attempt, stream, writer, items: texts });
    } else if (observation.type === "stored") checkStored(context, observation);
    else if (observation.type === "acquired") this.#written = []; // Their hosts have lost the partition.
  }

  mutation(context: Context, mutation: Mutation, commit: Committed): void {
    if (mutation.type === "appendStream") this.#append(context, mutation);
    else if (mutation.type === "trimStream") checkTrim(context, mutation);
    else if (mutation.type === "appendEntry") this.#entry(context, mutation, commit);
  }

  #append(context: Context, append: Append): void {
    const end = context.shadow.stream(append.stream).items.length;
    if (append.from !== end)
      context.report("E1", `items go to ${streamText(append.stream)} at ${append.from}; its end is ${end}`);
    if (append.writer === null) this.#loose.push(append);
    else this.#liveWrite(context, append);
  }

  /** What one writer said without a break may be written at once. */
  #liveWrite(context: Context, { stream, items, writer }: Append): void {
    let rest = items.map((item) => JSON.stringify(item));
    while (rest.length > 0) {
      const place = this.#written.findIndex((written) => {
        const run = context.shadow.run(written.attempt.start.run);
        if (run === undefined || written.writer !== writer || !names(run, written.stream, stream)) return false;
        if (!written.items.every((item, index) => item === rest[index])) return false;
        const isLast = context.lastAttempt.get(run.record.id) === written.attempt;
        return isLast && isCurrent(context, written.attempt) && run.record.status === "running";
      });
      const [written] = place < 0 ? [] : this.#written.splice(place, 1);
      if (written === undefined) {
        const text = `${writer}: ${rest.join(", ")}`;
        context.report("E4", `${text} is written into ${streamText(stream)} by no live attempt, or once more`);
        return;
      }
      rest = rest.slice(written.items.length);
    }
  }

  #entry(context: Context, mutation: AppendEntry, commit: Committed): void {
    const { entry } = mutation;
    const run = context.shadow.bySeq.get(mutation.run);
    if (run === undefined || (entry.kind !== "command" && entry.kind !== "completion")) return;
    const isCopy = context.shadow.isCopy(run, entry);
    if (isCopy && (entry.kept === undefined || entry.result?.kind === "failure")) return; // Of what was trimmed.
    if (entry.kind === "command" && entry.command.type === "append") {
      const from = Number(entry.result?.kind === "value" ? entry.result.value : -1);
      this.#journaled(context, run, entry.id, { stream: entry.command.stream, from, count: entry.command.count });
      return;
    }
    const { kept, result } = entry;
    if (kept === undefined) {
      const command = entry.kind === "command" ? entry : context.shadow.command(run, entry.id);
      if (command?.command.type === "step" && command.command.into !== undefined && result?.kind === "value")
        context.report("E1", `${context.names.of(run.record.id)}: the result of ${entry.id} went into no stream`);
    } else if (result?.kind === "value") {
      const isOld = isCopy || (cuts(commit, mutation.run) && this.#placeOf(run, kept) < 0);
      if (kept.form === "list" || isOld) checkKept(context, run, kept, result.value);
      else
        this.#journaled(context, run, entry.id, kept, { result: result.value, settled: isSettled(commit, mutation) });
    }
  }

  /** The append of this entry is the next one of the batch that no entry told of. */
  #journaled(
    context: Context,
    run: ShadowRun,
    command: number,
    where: Pick<Kept, "stream" | "from" | "count">,
    ended?: { readonly result: Payload; readonly settled: boolean },
  ): void {
    const name = `${context.names.of(run.record.id)} command ${command}`;
    const place = this.#placeOf(run, where);
    const [append] = place < 0 ? [] : this.#loose.splice(place, 1);
    if (append === undefined) {
      context.report("E1", `${name} is to stand in ${where.stream} at ${where.from}, and was not appended`);
      return;
    }
    if (ended !== undefined && ended.result !== append.items[0])
      context.report(
        "E2",
        `${name} ended with ${String(ended.result)}; ${String(append.items[0])} stands in the stream`,
      );
    if (ended?.settled === true) return; // By a person, not by its code.
    const attempt = context.lastAttempt.get(run.record.id)?.number ?? 0;
    const said = this.#said.get(`${attempt} ${command}`);
    if (said !== undefined && !said.has(JSON.stringify(append.items)))
      context.report("E2", `${name} appends ${JSON.stringify(append.items)}; its code said ${[...said].join(" or ")}`);
  }

  #placeOf(run: ShadowRun, where: Pick<Kept, "stream" | "from" | "count">): number {
    return this.#loose.findIndex(
      ({ stream, from, items }) =>
        names(run, where.stream, stream) && from === where.from && items.length === where.count,
    );
  }

  end(context: Context): void {
    for (const { stream, from, items } of this.#loose)
      context.report("E2", `${JSON.stringify(items)} is appended to ${streamText(stream)} at ${from} for no entry`);
  }
}

function names(run: ShadowRun, name: string, stream: Append["stream"]): boolean {
  return streamsText(run.record, name) === streamText(stream);
}

/** A restart writes completions again that it keeps. */
function cuts({ commit }: Committed, seq: number): boolean {
  return commit.mutations.some((mutation) => mutation.type === "truncate" && mutation.run === seq);
}

/** A person has said what the result is: the run is resumed in the same batch. */
function isSettled({ commit }: Committed, { run }: AppendEntry): boolean {
  return commit.mutations.some(
    (mutation) => mutation.type === "appendEntry" && mutation.run === run && mutation.entry.kind === "resumed",
  );
}

function checkKept(context: Context, run: ShadowRun, kept: Kept, result: Payload): void {
  const stream = context.shadow.streams.get(streamsText(run.record, kept.stream));
  const items = (stream?.items ?? []).slice(kept.from, kept.from + kept.count);
  const expected = kept.form === "item" ? items[0] : itemList(items);
  if (items.length !== kept.count || expected !== result)
    context.report(
      "E2",
      `${context.names.of(run.record.id)} reads ${String(result)}; ${String(expected)} stands in ${kept.stream} from ${kept.from} on`,
    );
}

function checkTrim({ shadow, report }: Context, { stream, before }: Extract<Mutation, { type: "trimStream" }>): void {
  const { items } = shadow.stream(stream);
  if (before > items.length)
    report("E1", `${streamText(stream)} is trimmed before ${before}, and holds ${items.length}`);
}

function checkStored({ shadow, report }: Context, stored: Extract<Observation, { type: "stored" }>): void {
  const there = new Map(stored.streams.map(({ stream, page }) => [streamText(stream), page]));
  for (const [text, { start, items }] of shadow.streams) {
    const page = there.get(text);
    const wanted = JSON.stringify([start, items.length, items.slice(start)]);
    const found = JSON.stringify([page?.start, page?.end, page?.items.map(({ payload }) => payload)]);
    if (wanted !== found) report("E1", `the storage holds ${found} of stream ${text}, not ${wanted}`);
  }
  for (const text of there.keys())
    if (!shadow.streams.has(text))
      report("E1", `the storage holds stream ${text}, which was never written, or deleted`);
}
