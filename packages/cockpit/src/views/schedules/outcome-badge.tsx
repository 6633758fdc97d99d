import type { ReactNode } from "react";
import type { ScheduleStartView } from "@perdure/protocol";
import { useMessages } from "../../i18n/use-messages.ts";
import { Badge, StatusBadge, type Tone } from "../../ui/status-badge.tsx";
import { outcomeOf } from "./schedule-words.ts";

const TONES = { started: "green", queued: "grey", withdrawn: "grey", skipped: "amber", failed: "red" } as const;

/** The status of the run that was started; where there is none, why not. */
export function OutcomeBadge({ start: { status, outcome } }: { readonly start: ScheduleStartView }): ReactNode {
  const t = useMessages().schedules;
  const { kind, why } = outcomeOf(outcome);
  if (status !== null) return <StatusBadge status={status} />;
  const tone: Tone = kind === null ? "grey" : TONES[kind];
  return (
    <span title={why}>
      <Badge tone={tone}>{kind === null ? outcome : t.outcomes[kind]}</Badge>
    </span>
  );
}
