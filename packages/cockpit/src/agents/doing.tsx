// What a session does now, in a few words, from what its turn waits for
// ====================================================================
// D1. What a person can do something about comes first: a question, a budget; then what it waits for; then its work.

import type { ReactNode } from "react";
import type { AgentSessionSummary, WaitView } from "@perdure/protocol";
import { APPROVALS_SERVICE } from "../approvals/open-approvals.ts";
import type { Messages } from "../i18n/messages.ts";
import { useMessages } from "../i18n/use-messages.ts";
import { RunLink, TargetName } from "../ui/run-link.tsx";
import type { Tone } from "../ui/status-badge.tsx";
import { Ago } from "../ui/time.tsx";
import { visibleLine } from "../ui/visible-text.ts";

type Told = Pick<AgentSessionSummary, "state" | "waits" | "queued" | "turn">;

export type Doing =
  | { readonly kind: "idle" | "working" | "paused" | "approval" | "budget" | "model" }
  | { readonly kind: "queued"; readonly count: number }
  | { readonly kind: "child"; readonly wait: Extract<WaitView, { kind: "run" }> }
  | { readonly kind: "timer"; readonly name: string; readonly at: string }
  | { readonly kind: "retry"; readonly at: string }
  | { readonly kind: "step"; readonly name: string };

/** A model call is a step of this name. */
const MODEL_STEP = "model ";

export function doingOf({ state, waits, queued, turn }: Told): Doing {
  if (turn === null) return queued > 0 ? { kind: "queued", count: queued } : { kind: "idle" };
  if (state === "paused") return { kind: "paused" };
  const runs = waits.filter((wait) => wait.kind === "run");
  if (runs.some(({ target }) => target.service === APPROVALS_SERVICE)) return { kind: "approval" };
  // Each model call asks its budget for room; where there is some, that takes a moment, and the turn goes on.
  if (state === "waiting" && waits.some(({ kind }) => kind === "awakeable")) return { kind: "budget" };
  const child = runs.find(({ target }) => !target.service.startsWith("perdure."));
  if (child !== undefined) return { kind: "child", wait: child };
  for (const wait of waits) {
    if (wait.kind === "timer") return { kind: "timer", name: wait.name ?? "", at: wait.at };
    if (wait.kind === "time") return { kind: "retry", at: wait.at };
    if (wait.kind === "step")
      return wait.name.startsWith(MODEL_STEP) ? { kind: "model" } : { kind: "step", name: wait.name };
  }
  return { kind: "working" };
}

/** Colours mean the same as those of runs. */
export function toneOfDoing({ kind }: Doing): Tone {
  switch (kind) {
    case "idle":
    case "queued":
      return "grey";
    case "approval":
    case "budget":
    case "paused":
      return "orange";
    case "child":
    case "timer":
      return "violet";
    case "retry":
      return "amber";
    case "working":
    case "model":
    case "step":
      return "blue";
  }
}

export function stateText({ state, queued }: Pick<Told, "state" | "queued">, t: Messages): string {
  return state === "idle" && queued > 0 ? t.common.status.queued : t.agents.state[state];
}

export function DoingText({ doing }: { readonly doing: Doing }): ReactNode {
  const t = useMessages().agents.doing;
  switch (doing.kind) {
    case "child":
      return (
        <>
          {t.child}{" "}
          <RunLink id={doing.wait.runId}>
            <TargetName of={doing.wait.target} />
          </RunLink>
        </>
      );
    case "timer":
      return (
        <>
          {t.timer(visibleLine(doing.name))} <Ago at={doing.at} />
        </>
      );
    case "retry":
      return (
        <>
          {t.retry} <Ago at={doing.at} />
        </>
      );
    case "step":
      return t.step(visibleLine(doing.name));
    case "queued":
      return t.queued(doing.count);
    default:
      return t[doing.kind];
  }
}
