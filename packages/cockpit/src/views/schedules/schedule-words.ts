// A schedule in words, and as the command and the request that make it.

import { formatDuration, type ScheduleSummary } from "@perdure/protocol";
import type { Format } from "../../i18n/format.ts";
import type { Messages } from "../../i18n/messages.ts";

/** `every 15m`, or the cron expression as it stands: whoever wrote it reads it. */
export function timingText({ timing }: Pick<ScheduleSummary, "timing">, t: Messages, format: Format): string {
  return timing.kind === "cron" ? timing.cron : t.schedules.every(format.duration(timing.everyMs));
}

/** `mailer/send`, `inbox/ada/add`, `order/…/run`. */
export function targetOf({ target, keyPerStart }: Pick<ScheduleSummary, "target" | "keyPerStart">): {
  readonly service: string;
  readonly key: string | null;
  readonly handler: string;
} {
  return { ...target, key: keyPerStart ? "…" : target.key };
}

type Outcome = "started" | "queued" | "withdrawn" | "skipped" | "failed";

/** What became of a time, and why, as the history says both in one text. */
export function outcomeOf(text: string): { readonly kind: Outcome | null; readonly why: string } {
  const [, kind = "", why = ""] = /^(started|queued|withdrawn|skipped|failed)(?:: ([\s\S]*))?$/.exec(text) ?? [];
  return kind === "" ? { kind: null, why: text } : { kind: kind as Outcome, why };
}

/** As a field takes it: `15m`. */
export function durationField(ms: number): string {
  return ms === 0 ? "" : formatDuration(ms);
}
