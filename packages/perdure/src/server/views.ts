// Records of the engine as the JSON of the API (packages/protocol/src/api.ts).

import {
  FIRST_AWAKEABLE_SIGNAL,
  encodeAwakeableId,
  isFinished,
  payloadSize,
  type Awaiting,
  type AwaitingView,
  type Command,
  type CommandView,
  type Entry,
  type EntryView,
  type Failure,
  type ImageInfo,
  type Instant,
  type InstantText,
  type JsonValue,
  type Kept,
  type KeptView,
  type MomentView,
  type Payload,
  type PayloadView,
  type Result,
  type ResultView,
  type Run,
  type RunId,
  type RunSummary,
  type RunView,
  type SignalName,
} from "@perdure/protocol";

export function instantText(at: Instant): InstantText {
  return new Date(at).toISOString();
}

function instantOrNull(at: Instant | null): InstantText | null {
  return at === null ? null : instantText(at);
}

/** @param bytesMax longer ones are only measured. */
export function payloadView(payload: Payload | null, bytesMax: number): PayloadView {
  if (payload === null) return null;
  const size = payloadSize(payload);
  if (size > bytesMax) return { omitted: size };
  if (typeof payload !== "string")
    return { base64: Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString("base64") };
  try {
    return JSON.parse(payload) as JsonValue;
  } catch {
    return payload; // Text of somebody who does not write JSON: shown as it is.
  }
}

function resultView(result: Result, bytesMax: number): ResultView {
  switch (result.kind) {
    case "value":
      return { kind: "value", value: payloadView(result.value, bytesMax) };
    case "void":
      return { kind: "void" };
    case "failure":
      return { kind: "failure", failure: result.failure };
  }
}

export function awakeableOf(run: RunId, signal: SignalName): string | undefined {
  return typeof signal === "number" && signal >= FIRST_AWAKEABLE_SIGNAL
    ? encodeAwakeableId({ run, signal })
    : undefined;
}

function awaitingView(run: RunId, awaiting: Awaiting): AwaitingView {
  switch (awaiting.kind) {
    case "completion":
      return awaiting;
    case "time":
      return { kind: "time", at: instantText(awaiting.at) };
    case "signal": {
      const awakeable = awakeableOf(run, awaiting.signal);
      return awakeable === undefined ? awaiting : { ...awaiting, awakeable };
    }
  }
}

export function runSummary(run: Run): RunSummary {
  const { parent, forkedFrom, retry, cancelling } = run;
  return {
    id: run.id,
    seq: run.seq,
    service: run.service,
    handler: run.handler,
    key: run.key,
    mode: run.mode,
    status: run.status,
    idempotencyKey: run.idempotencyKey,
    parent: parent === null ? null : { runId: parent.run, command: parent.command, awaited: parent.awaited },
    forkedFrom: forkedFrom === null ? null : { runId: forkedFrom.run, entry: forkedFrom.entry },
    deployment: run.deployment,
    createdAt: instantText(run.createdAt),
    changedAt: instantText(run.changedAt),
    scheduledAt: instantOrNull(run.scheduledAt),
    finishedAt: instantOrNull(run.finishedAt),
    generation: run.generation,
    retry: retry === null ? null : { tries: retry.tries, failure: retry.failure, at: instantOrNull(retry.at ?? null) },
    awaiting: run.awaiting === null ? null : run.awaiting.map((awaiting) => awaitingView(run.id, awaiting)),
    pausedBy: run.pausedBy,
    cancelling: cancelling === null ? null : { waitingFor: cancelling.waitingFor },
    failure: finalFailure(run),
  };
}

export function momentView({ at, ...info }: ImageInfo): MomentView {
  return { ...info, at: instantText(at) };
}

function finalFailure(run: Run): Failure | null {
  return isFinished(run.status) && run.result?.kind === "failure" ? run.result.failure : null;
}

export function runView(run: Run, bytesMax: number): RunView {
  return {
    ...runSummary(run),
    input: payloadView(run.input, bytesMax),
    headers: run.headers,
    ...(run.migrated === null ? {} : { migrated: { point: run.migrated.point, at: instantText(run.migrated.at) } }),
    ...(run.migrating === null ? {} : { migrating: run.migrating }),
    result: run.result === null ? null : resultView(run.result, bytesMax),
  };
}

export function entryView(run: RunId, entry: Entry, bytesMax: number): EntryView {
  const head = { index: entry.index, at: instantText(entry.at) };
  switch (entry.kind) {
    case "command":
      return {
        ...head,
        kind: "command",
        id: entry.id,
        command: commandView(entry.command, bytesMax),
        ...(entry.child === undefined ? {} : { child: entry.child }),
        ...(entry.result === undefined ? {} : { result: resultView(entry.result, bytesMax) }),
        ...keptView(entry.kept),
      };
    case "completion":
      return {
        ...head,
        kind: "completion",
        id: entry.id,
        result: resultView(entry.result, bytesMax),
        ...keptView(entry.kept),
      };
    case "signal": {
      const awakeable = awakeableOf(run, entry.signal);
      return {
        ...head,
        kind: "signal",
        signal: entry.signal,
        ...(awakeable === undefined ? {} : { awakeable }),
        payload: resultView(entry.payload, bytesMax),
      };
    }
    case "retry": {
      const { id, tries, failure, retryAt } = entry;
      return {
        ...head,
        kind: "retry",
        id,
        tries,
        failure,
        ...(retryAt === undefined ? {} : { retryAt: instantText(retryAt) }),
      };
    }
    case "resumed":
      return resumedView(head, entry);
  }
}

function keptView(kept: Kept | undefined): { readonly kept: KeptView } | Record<never, never> {
  if (kept === undefined) return {};
  const { stream, from, count } = kept;
  return { kept: { stream, from, count } };
}

function commandView(command: Command, bytesMax: number): CommandView {
  switch (command.type) {
    case "sleep":
      return { ...command, wakeAt: instantText(command.wakeAt) };
    case "call":
      return { ...command, input: payloadView(command.input, bytesMax) };
    case "send": {
      const { invokeAt, ...rest } = command;
      return {
        ...rest,
        input: payloadView(command.input, bytesMax),
        ...(invokeAt === undefined ? {} : { invokeAt: instantText(invokeAt) }),
      };
    }
    case "setState":
      return { ...command, value: payloadView(command.value, bytesMax) };
    case "completePromise":
    case "completeAwakeable":
      return { ...command, completion: resultView(command.completion, bytesMax) };
    case "sendSignal": {
      const { payload, ...rest } = command;
      const awakeable = awakeableOf(command.run, command.signal);
      return { ...rest, ...(awakeable === undefined ? {} : { awakeable }), completion: resultView(payload, bytesMax) };
    }
    default:
      return command;
  }
}

/** A cell of a SQL answer. */
export function cellView(value: unknown): JsonValue {
  if (value instanceof Uint8Array)
    return { base64: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64") };
  // Integers that a double cannot hold are texts, so that nobody takes a rounded one for the real one.
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  return value === undefined ? null : (value as JsonValue);
}

function resumedView(
  head: { readonly index: number; readonly at: string },
  { forget, migrated }: Extract<Entry, { kind: "resumed" }>,
): EntryView {
  const resumed = { ...head, kind: "resumed", ...(forget === undefined ? {} : { forget }) } as const;
  if (migrated === undefined) return resumed;
  const { point, from, to } = migrated;
  return { ...resumed, migrated: { point, from, to } };
}
