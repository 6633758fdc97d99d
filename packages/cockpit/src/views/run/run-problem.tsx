// Why a run needs a person, or ended badly: the failure in its own words, a divergence as a diff with the ways on, an unknown
// effect with the question what became of it.

import { useState, type ReactNode } from "react";
import type { ActionAnswer, EntryView, Failure, RunId, RunSummary, SettleRequest } from "@perdure/protocol";
import { path } from "../../api/client.ts";
import { useApi } from "../../app/app-context.ts";
import { useMessages } from "../../i18n/use-messages.ts";
import { Button } from "../../ui/button.tsx";
import { say, sayFailure } from "../../ui/toasts.tsx";
import { visibleText } from "../../ui/visible-text.ts";
import { DivergenceDiff, divergenceOf, WaysOn } from "./divergence.tsx";
import { useJsonField } from "./json-field.tsx";
import type { BranchAct } from "./run-search.ts";

const UNKNOWN_EFFECT = "P0011";

export interface RunProblemProps {
  readonly run: RunSummary;
  readonly entries: readonly EntryView[];
  readonly onAct: (act: BranchAct, at: number) => void;
}

export function RunProblem({ run, entries, onAct }: RunProblemProps): ReactNode {
  const t = useMessages().run.paused;
  const divergence = run.pausedBy === null ? null : divergenceOf(run.pausedBy);
  if (run.status === "paused")
    return (
      <section className="notice" data-tone="orange">
        <h2>{t.title}</h2>
        {run.pausedBy === null ? null : <FailureText failure={run.pausedBy} />}
        {run.pausedBy?.errorCode === UNKNOWN_EFFECT ? <Settle run={run.id} failure={run.pausedBy} /> : null}
        {divergence === null ? null : <WaysOn run={run} entries={entries} divergence={divergence} onAct={onAct} />}
      </section>
    );
  if (run.failure !== null)
    return (
      <section className="notice" data-tone={run.status === "failed" ? "red" : "grey"}>
        <h2>{t.failed}</h2>
        <FailureText failure={run.failure} />
      </section>
    );
  if (run.status === "retrying" && run.retry !== null)
    return (
      <section className="notice" data-tone="amber">
        <h2>{t.retrying}</h2>
        <FailureText failure={run.retry.failure} />
      </section>
    );
  return null;
}

export function FailureText({ failure }: { readonly failure: Failure }): ReactNode {
  const t = useMessages().run.paused;
  const [head = "", ...rest] = failure.message.split("\n");
  const diff = divergenceOf(failure);
  return (
    <div className="failure">
      <p>
        {failure.errorCode === undefined ? null : <code className="failure-code">{failure.errorCode}</code>}
        {visibleText(head)}
      </p>
      {diff !== null ? (
        <DivergenceDiff {...diff} />
      ) : rest.length > 0 ? (
        <p className="text-data">{visibleText(rest.join("\n"))}</p>
      ) : null}
      {failure.stack === undefined ? null : (
        <details>
          <summary>{t.stack}</summary>
          <p className="text-data">{visibleText(failure.stack)}</p>
        </details>
      )}
    </div>
  );
}

type Fate = "happened" | "notHappened" | "failedForGood";

function Settle({ run, failure }: { readonly run: RunId; readonly failure: Failure }): ReactNode {
  const t = useMessages();
  const api = useApi();
  const [fate, setFate] = useState<Fate>("happened");
  const value = useJsonField();
  const [message, setMessage] = useState("");
  const command = Number(failure.metadata?.["command"]);
  const settle = async (): Promise<void> => {
    const json = value.read();
    if (json === null && fate === "happened") return;
    try {
      await api.post<ActionAnswer>(
        path`/runs/${run}/effects/${command}/settle`,
        settlement(fate, json?.value, message),
      );
      say(t.run.waits.answered);
    } catch (error) {
      sayFailure(error);
    }
  };
  return (
    <div className="settle">
      <h3>{t.run.paused.settle}</h3>
      <p>{t.run.paused.settleHelp}</p>
      <div role="radiogroup" className="fates">
        {(["happened", "notHappened", "failedForGood"] as const).map((one) => (
          <label key={one}>
            <input type="radio" name="fate" checked={fate === one} onChange={() => setFate(one)} /> {t.run.paused[one]}
          </label>
        ))}
      </div>
      {fate === "happened" ? value.field(t.run.paused.result) : null}
      {fate === "failedForGood" ? (
        <label className="field">
          {t.run.paused.message}
          <input className="input" value={message} onChange={(event) => setMessage(event.target.value)} />
        </label>
      ) : null}
      <Button look="primary" disabled={fate === "failedForGood" && message.trim() === ""} onClick={() => void settle()}>
        {t.run.paused[fate]}
      </Button>
    </div>
  );
}

function settlement(fate: Fate, value: unknown, message: string): SettleRequest {
  switch (fate) {
    case "happened":
      return value === undefined ? { happened: true } : { happened: true, value: value as never };
    case "notHappened":
      return { happened: false };
    case "failedForGood":
      return { failure: { message: message.trim() } };
  }
}
