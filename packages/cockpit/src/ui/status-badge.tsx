// A status in its colour. Colours mean the same everywhere: blue works, violet waits, amber tries again, orange needs a
// person, red failed, green is done, grey is neither.

import type { ReactNode } from "react";
import type { RunStatus } from "@perdure/protocol";
import { useMessages } from "../i18n/use-messages.ts";

export type Tone = "blue" | "violet" | "amber" | "orange" | "red" | "green" | "grey";

const TONES: Readonly<Record<RunStatus, Tone>> = {
  scheduled: "grey",
  queued: "grey",
  running: "blue",
  suspended: "violet",
  retrying: "amber",
  paused: "orange",
  succeeded: "green",
  failed: "red",
  cancelled: "grey",
  killed: "grey",
};

export function toneOf(status: RunStatus): Tone {
  return TONES[status];
}

export function StatusBadge({ status }: { readonly status: RunStatus }): ReactNode {
  const t = useMessages();
  return <Badge tone={toneOf(status)}>{t.common.status[status]}</Badge>;
}

export function Badge({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }): ReactNode {
  return (
    <span className="badge" data-tone={tone}>
      {children}
    </span>
  );
}
