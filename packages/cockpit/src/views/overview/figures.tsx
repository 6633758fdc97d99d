import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { RunStatus } from "@perdure/protocol";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { toneOf } from "../../ui/status-badge.tsx";
import { metric, type Metrics } from "./metrics.ts";
import { FAILED_MAX } from "./use-overview.ts";

export interface FiguresProps {
  readonly metrics: Metrics | undefined;
  readonly failed: number | undefined;
}

/** How many runs are where; each leads to them. */
export function Figures({ metrics, failed }: FiguresProps): ReactNode {
  const t = useMessages().overview.figures;
  const format = useFormat();
  const count = (status: RunStatus): number | undefined =>
    metrics === undefined ? undefined : metric(metrics, "perdure_runs", { status });
  const queued = sum(count("queued"), count("scheduled"));
  const failedText =
    failed === undefined ? undefined : failed >= FAILED_MAX ? t.atLeast(format.number(failed)) : format.number(failed);
  const show = (value: number | undefined): string | undefined =>
    value === undefined ? undefined : format.number(value);
  return (
    <div className="figures">
      <Figure name={t.running} text={show(count("running"))} status="running" search={{ status: "running" }} />
      <Figure name={t.waiting} text={show(count("suspended"))} status="suspended" search={{ status: "suspended" }} />
      <Figure name={t.queued} text={show(queued)} status="queued" search={{ status: "scheduled,queued" }} />
      <Figure name={t.retrying} text={show(count("retrying"))} status="retrying" search={{ status: "retrying" }} />
      <Figure name={t.paused} text={show(count("paused"))} status="paused" search={{ status: "paused" }} />
      <Figure name={t.failed} text={failedText} status="failed" search={{ status: "failed", since: "24h" }} />
    </div>
  );
}

function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : a + b;
}

interface FigureProps {
  readonly name: string;
  readonly text: string | undefined;
  readonly status: RunStatus;
  readonly search: { readonly status: string; readonly since?: string };
}

function Figure({ name, text, status, search }: FigureProps): ReactNode {
  return (
    <Link
      className="figure"
      to="/runs"
      search={search}
      data-tone={toneOf(status)}
      data-none={text === "0" || undefined}
    >
      <span>{name}</span>
      <b>{text ?? "–"}</b>
    </Link>
  );
}
