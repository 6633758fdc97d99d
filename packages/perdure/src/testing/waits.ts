// What runs of a test world wait for, for tests that bring it, and in words.

import {
  encodeAwakeableId,
  FIRST_AWAKEABLE_SIGNAL,
  formatDuration,
  type Awaiting,
  type Failure,
  type Run,
  type RunId,
} from "@perdure/protocol";

export interface OpenWait {
  readonly run: RunId;
  readonly service: string;
  readonly handler: string;
  readonly key: string | null;
  /** Name, or index of an awakeable. */
  readonly signal: string | number;
  /** The awakeable's id, where it is one. */
  readonly awakeable: string | null;
}

export function openWait(run: Run, signal: string | number): OpenWait {
  const isAwakeable = typeof signal === "number" && signal >= FIRST_AWAKEABLE_SIGNAL;
  const { id, service, handler, key } = run;
  return {
    run: id,
    service,
    handler,
    key,
    signal,
    awakeable: isAwakeable ? encodeAwakeableId({ run: id, signal }) : null,
  };
}

export function describeFailure(failure: Failure | null): string {
  return failure === null ? "no reason is recorded" : `${failure.errorCode ?? failure.code} ${failure.message}`;
}

export function describeAwaiting(run: Run | null): string {
  if (run === null) return "there is no such run";
  const describe = (item: Awaiting): string => {
    if (item.kind === "completion") return `the result of command ${item.id}`;
    return item.kind === "signal"
      ? `signal ${JSON.stringify(item.signal)}`
      : `time, in ${formatDuration(Math.max(0, item.at - run.changedAt))}`;
  };
  return (run.awaiting ?? []).map(describe).join(", ") || "nothing durable (a promise of its own?)";
}
