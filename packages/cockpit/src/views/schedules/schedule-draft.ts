// A schedule while it is written, and the request that it comes to.

import type { JsonValue, SchedulePut, ScheduleSummary, ServiceManifest } from "@perdure/protocol";
import { durationField } from "./schedule-words.ts";

export interface ScheduleDraft {
  readonly name: string;
  readonly when: "cron" | "every";
  readonly cron: string;
  readonly timeZone: string;
  readonly every: string;
  readonly service: string;
  readonly handler: string;
  readonly key: string;
  readonly overlap: ScheduleSummary["overlap"];
  readonly catchUp: ScheduleSummary["catchUp"];
  readonly jitter: string;
  readonly paused: boolean;
}

export const NEW_SCHEDULE: Omit<ScheduleDraft, "timeZone" | "service" | "handler"> = {
  name: "",
  when: "cron",
  cron: "",
  every: "",
  key: "",
  overlap: "skip",
  catchUp: "latest",
  jitter: "",
  paused: false,
};

export function draftOfSchedule(schedule: ScheduleSummary, timeZone: string): ScheduleDraft {
  const { name, timing, target, overlap, catchUp, jitterMs, paused } = schedule;
  return {
    name,
    when: timing.kind,
    cron: timing.kind === "cron" ? timing.cron : "",
    timeZone: timing.kind === "cron" ? timing.timeZone : timeZone,
    every: timing.kind === "every" ? durationField(timing.everyMs) : "",
    service: target.service,
    handler: target.handler,
    key: target.key ?? "",
    overlap,
    catchUp,
    jitter: durationField(jitterMs),
    paused,
  };
}

/** How the target of a draft is keyed. */
export function keyingOf(
  services: readonly ServiceManifest[],
  { service, handler }: Pick<ScheduleDraft, "service" | "handler">,
): "none" | "key" | "perStart" {
  const found = services.find(({ name }) => name === service);
  if (found === undefined || found.kind === "service") return "none";
  return found.handlers.find(({ name }) => name === handler)?.mode === "workflow" ? "perStart" : "key";
}

export function isComplete(draft: ScheduleDraft, keying: ReturnType<typeof keyingOf>): boolean {
  const when = draft.when === "cron" ? draft.cron : draft.every;
  return draft.name !== "" && when.trim() !== "" && draft.handler !== "" && (keying !== "key" || draft.key !== "");
}

export function scheduleBody(
  draft: ScheduleDraft,
  keying: ReturnType<typeof keyingOf>,
  input: JsonValue | undefined,
): SchedulePut {
  const { service, handler, key, overlap, catchUp, paused } = draft;
  const jitter = draft.jitter.trim();
  return {
    ...(draft.when === "cron"
      ? { cron: draft.cron.trim(), timeZone: draft.timeZone.trim() }
      : { every: draft.every.trim() }),
    target: {
      service,
      handler,
      ...(keying === "key" ? { key } : {}),
      ...(keying === "perStart" ? { keyPerStart: true } : {}),
    },
    ...(input === undefined ? {} : { input }),
    overlap,
    catchUp,
    ...(jitter === "" ? {} : { jitter }),
    paused,
  };
}
