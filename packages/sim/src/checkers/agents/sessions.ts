// What stands in the transcripts of agents, and which entry of which run put it there. The checkers of agents share it.

import { type AgentMessage, TRANSCRIPT, type TranscriptItem } from "@perdure/agents";
import type { Mutation } from "@perdure/engine";
import { type Entry, type Payload, streamText } from "@perdure/protocol";
import { isAgent } from "../../agents/cast.ts";
import type { Checker, Context } from "../checker.ts";
import { keyText, type ShadowRun, streamsText } from "../shadow.ts";

export interface SessionItem {
  readonly session: string;
  readonly offset: number;
  readonly item: TranscriptItem;
  readonly run: ShadowRun;
  readonly command: number;
  /** Index of the entry that tells of it. */
  index: number;
  /** A restart has cut that entry off. */
  isCut: boolean;
}

type Append = Extract<Mutation, { type: "appendStream" }>;

export class Sessions {
  /** By key, in order of offsets. */
  readonly all: Map<string, SessionItem[]> = new Map();
  /** Those of the commit that is looked at. */
  fresh: SessionItem[] = [];
  /**
   * A person has restarted a turn from its middle. It goes on from the session as it read it when it began, though other
   * turns may have worked meanwhile, and though what was cut off still stands in the transcript.
   */
  readonly spliced: Set<string> = new Set();
  #loose: Append[] = [];

  readonly checker: Checker = {
    name: "sessions",
    beforeCommit: () => {
      this.fresh = [];
      this.#loose = [];
    },
    beforeMutation: (context, mutation) => this.#mutation(context, mutation),
  };

  of(session: string): readonly SessionItem[] {
    return this.all.get(session) ?? [];
  }

  /** What a run has put into its transcript and no restart has cut off. */
  by(run: ShadowRun): readonly SessionItem[] {
    return this.of(sessionOf(run)).filter((item) => item.run === run && !item.isCut);
  }

  #mutation(context: Context, mutation: Mutation): void {
    if (mutation.type === "appendStream") {
      if (mutation.writer === null && mutation.stream.name === TRANSCRIPT) this.#loose.push(mutation);
      return;
    }
    if (mutation.type !== "appendEntry" && mutation.type !== "truncate") return;
    const run = context.shadow.bySeq.get(mutation.run);
    if (run === undefined || !isTurn(run)) return;
    if (mutation.type === "truncate") {
      if (mutation.from > 1) this.spliced.add(sessionOf(run));
      for (const item of this.of(sessionOf(run)))
        if (item.run === run && item.index >= mutation.from) item.isCut = true;
    } else this.#entry(run, mutation.entry);
  }

  #entry(run: ShadowRun, entry: Entry): void {
    const from = placeOf(entry);
    if (from === undefined || (entry.kind !== "command" && entry.kind !== "completion")) return;
    const command = entry.id;
    const session = sessionOf(run);
    const text = streamsText(run.record, TRANSCRIPT);
    const append = this.#loose.find((one) => streamText(one.stream) === text && one.from === from);
    if (append === undefined) return this.#keptByRestart(run, session, from, entry.index);
    const items = this.all.get(session) ?? [];
    this.all.set(session, items);
    for (const [at, payload] of append.items.entries()) {
      const item = {
        session,
        offset: from + at,
        item: itemOf(payload),
        run,
        command,
        index: entry.index,
        isCut: false,
      };
      items.push(item);
      this.fresh.push(item);
    }
  }

  /** A restart writes what it keeps once more. */
  #keptByRestart(run: ShadowRun, session: string, from: number, index: number): void {
    const item = this.of(session).find(({ offset }) => offset === from);
    if (item?.run !== run) return;
    item.isCut = false;
    item.index = index;
  }
}

function placeOf(entry: Entry): number | undefined {
  if (entry.kind !== "command" && entry.kind !== "completion") return undefined;
  if (entry.kind === "command" && entry.command.type === "append") {
    const isTranscript = entry.command.stream === TRANSCRIPT && entry.result?.kind === "value";
    return isTranscript ? Number(entry.result.value) : undefined;
  }
  return entry.kept?.stream === TRANSCRIPT && entry.kept.form === "item" ? entry.kept.from : undefined;
}

function itemOf(payload: Payload): TranscriptItem {
  return JSON.parse(String(payload)) as TranscriptItem;
}

/** Is it a message to an agent of the cast? Its turn is the run itself. */
export function isTurn({ record }: ShadowRun): boolean {
  return isAgent(record.service) && record.handler === "send";
}

export function sessionOf({ record }: ShadowRun): string {
  return keyText({ service: record.service, key: record.key ?? "" });
}

export function messageOf({ record }: ShadowRun): AgentMessage {
  const input = JSON.parse(String(record.input)) as AgentMessage | string;
  return typeof input === "string" ? { text: input } : input;
}

export function turnsIn(context: Context): readonly ShadowRun[] {
  return [...context.shadow.bySeq.values()].filter((run) => !run.deleted && isTurn(run));
}
