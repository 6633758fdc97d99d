// Agents and their messages, as routes find them: in the catalog, among the runs, in the transcript.

import { EVENTS, sessionOf, TRANSCRIPT, type AgentEvent, type Session, type TranscriptItem } from "@perdure/agents";
import type { StreamItem } from "@perdure/engine";
import {
  BadRequestError,
  RUN_STATUSES,
  UnknownTargetError,
  isFinished,
  type Run,
  type RunId,
  type RunStatus,
} from "@perdure/protocol";
import type { ServedRuntime } from "./context.ts";
import { checkKey } from "./ingress-calls.ts";
import { checkVisible } from "./streams.ts";

export interface AgentSession {
  readonly service: string;
  readonly key: string;
}

export const UNFINISHED: readonly RunStatus[] = RUN_STATUSES.filter((status) => !isFinished(status));
/** Those that have their key's turn and do not sleep: the store finds them without looking at the others. */
const AWAKE: readonly RunStatus[] = ["running", "retrying", "paused"];
/** Those that may not have been seen yet. */
export const UNSEEN: readonly RunStatus[] = ["queued", ...AWAKE];
const PAGE_ITEMS = 256;
const CLOCK_SLACK_MS = 3_600_000;

/** @throws UnknownTargetError, BadRequestError */
export function agentSession(runtime: Pick<ServedRuntime, "catalog">, agent = "", key = ""): AgentSession {
  const service = checkVisible(runtime, agent);
  if (service.agent !== true) throw new UnknownTargetError(`"${agent}" is a ${service.kind} and no agent`);
  checkKey(key, `an agent is addressed as /perdure/agents/${agent}/{session}`);
  return { service: agent, key };
}

export async function readSession(runtime: ServedRuntime, owner: AgentSession): Promise<Session | undefined> {
  return sessionOf(await runtime.reader.state(owner));
}

/**
 * The run that has the session's turn. One that waits for something has begun, and stands in the state; among the others,
 * which are few, is one that the state does not name yet.
 */
export async function turnOf(runtime: ServedRuntime, owner: AgentSession): Promise<Run | undefined> {
  const session = await readSession(runtime, owner);
  const named = session === undefined ? null : await runtime.reader.run(session.turn);
  if (named?.handler === "send" && !isFinished(named.status)) return named;
  const { service, key } = owner;
  const filter = { service, key, handler: "send", status: AWAKE, order: "oldest", limit: 1 } as const;
  return (await runtime.reader.runs(filter))[0];
}

/** A run of the session's messages. @throws RunNotFoundError, BadRequestError */
export async function messageRun(runtime: ServedRuntime, owner: AgentSession, id: RunId): Promise<Run> {
  const run = await runtime.run(id);
  if (run.service !== owner.service || run.key !== owner.key || run.handler !== "send")
    throw new BadRequestError(`${id} is no message to ${owner.service}/${owner.key}`);
  return run;
}

/** Where the transcript has the message: its offset. */
export async function seenAt(runtime: ServedRuntime, owner: AgentSession, run: Run): Promise<number | undefined> {
  // What is older than the message cannot be it, but for clocks that were set back.
  for await (const item of itemsBack(runtime, owner, TRANSCRIPT)) {
    if (isMessage(item, run.id)) return item.offset;
    if (item.at < run.createdAt - CLOCK_SLACK_MS) return undefined;
  }
  return undefined;
}

export function isMessage(item: StreamItem, run: RunId): boolean {
  const read = transcriptItem(item);
  return read.type === "message" && read.id === run;
}

export function transcriptItem({ payload }: StreamItem): TranscriptItem {
  return JSON.parse(String(payload)) as TranscriptItem;
}

export function agentEvent({ payload }: StreamItem): AgentEvent {
  return JSON.parse(String(payload)) as AgentEvent;
}

/** All items from an offset to where the stream ends now. */
export async function* itemsFrom(
  runtime: ServedRuntime,
  owner: AgentSession,
  name: typeof EVENTS | typeof TRANSCRIPT,
  from: number,
): AsyncGenerator<StreamItem, void, undefined> {
  const stream = { owner, name };
  const { end } = await runtime.readStream(stream, Number.MAX_SAFE_INTEGER, 1);
  for (let next = from; next < end; ) {
    const { items } = await runtime.readStream(stream, next, PAGE_ITEMS);
    const last = items.at(-1);
    if (last === undefined) return;
    yield* items;
    next = last.offset + 1;
  }
}

/** The items that there are now, the newest first. */
export async function* itemsBack(
  runtime: ServedRuntime,
  owner: AgentSession,
  name: typeof EVENTS | typeof TRANSCRIPT,
): AsyncGenerator<StreamItem, void, undefined> {
  const stream = { owner, name };
  const { start, end } = await runtime.readStream(stream, Number.MAX_SAFE_INTEGER, 1);
  for (let to = end; to > start; to -= PAGE_ITEMS) {
    const from = Math.max(start, to - PAGE_ITEMS);
    const { items } = await runtime.readStream(stream, from, to - from);
    yield* items.toReversed();
  }
}
