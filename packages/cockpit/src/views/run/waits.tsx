// What a run waits for, in words, each with what a person can do about it.

import { Hourglass } from "lucide-react";
import { useState, type ReactNode } from "react";
import { isFinished, type RunId, type RunStatus, type RunSummary, type WaitView } from "@perdure/protocol";
import { path } from "../../api/client.ts";
import { useApi } from "../../app/app-context.ts";
import { useMessages } from "../../i18n/use-messages.ts";
import { Button } from "../../ui/button.tsx";
import { CommandLine } from "../../ui/copy-button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { RunLink, TargetName } from "../../ui/run-link.tsx";
import { Ago } from "../../ui/time.tsx";
import { say, sayFailure } from "../../ui/toasts.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import { waitWords } from "./entry-words.ts";
import { useJsonField } from "./json-field.tsx";

export interface WaitsProps {
  readonly run: RunSummary;
  readonly waits: readonly WaitView[];
}

export function Waits({ run, waits }: WaitsProps): ReactNode {
  const t = useMessages().run.waits;
  const shown = waits.filter((wait) => !isOwnSignal(wait));
  if (isFinished(run.status) || shown.length === 0) return null;
  return (
    <section className="panel waits">
      <h2>
        <Hourglass aria-hidden />
        {shown.length === 1 ? t.title : t.titleAny}
      </h2>
      <ul>
        {shown.map((wait, at) => (
          <li key={`${wait.kind} ${at}`}>
            <WaitText wait={wait} status={run.status} />
            <Answers run={run.id} wait={wait} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** One thing that is waited for: words, the run behind it, the time. */
export function WaitText({ wait, status }: { readonly wait: WaitView; readonly status: RunStatus }): ReactNode {
  const t = useMessages();
  return (
    <span className="wait-text">
      {visibleLine(waitWords(wait, status, t))}{" "}
      {wait.kind === "run" ? (
        <RunLink id={wait.runId}>
          <TargetName of={wait.target} />
        </RunLink>
      ) : null}
      {"at" in wait ? <Ago at={wait.at} /> : null}
    </span>
  );
}

/** Messages between the runtime's own parts: an agent that waits for an approval listens to its inbox, too. */
function isOwnSignal(wait: WaitView): boolean {
  return wait.kind === "signal" && (typeof wait.signal === "number" || wait.signal.startsWith("perdure."));
}

const isNamed = (wait: WaitView): wait is Extract<WaitView, { kind: "signal" }> =>
  wait.kind === "signal" && typeof wait.signal === "string";

function Answers({ run, wait }: { readonly run: RunId; readonly wait: WaitView }): ReactNode {
  const t = useMessages().run.waits;
  const [answer, setAnswer] = useState<Answer | null>(null);
  const offer = (label: string, value: Answer): ReactNode => (
    <Button size="s" onClick={() => setAnswer(value)}>
      {label}
    </Button>
  );
  return (
    <>
      {wait.kind === "awakeable" ? offer(t.resolve, { kind: "resolve", id: wait.id }) : null}
      {wait.kind === "awakeable" ? offer(t.reject, { kind: "reject", id: wait.id }) : null}
      {isNamed(wait) ? offer(t.send, { kind: "signal", run, signal: String(wait.signal) }) : null}
      {answer === null ? null : <AnswerDialog answer={answer} onClose={() => setAnswer(null)} />}
    </>
  );
}

type Answer =
  | { readonly kind: "resolve" | "reject"; readonly id: string }
  | { readonly kind: "signal"; readonly run: RunId; readonly signal: string };

function AnswerDialog({ answer, onClose }: { readonly answer: Answer; readonly onClose: () => void }): ReactNode {
  const t = useMessages();
  const api = useApi();
  const value = useJsonField();
  const [why, setWhy] = useState("");
  const send = async (): Promise<void> => {
    const json = value.read();
    if (json === null) return;
    try {
      await api.post(addressOf(answer), answer.kind === "reject" ? { message: why } : json.value);
      say(t.run.waits.answered);
      onClose();
    } catch (error) {
      sayFailure(error);
    }
  };
  const label = answer.kind === "signal" ? t.run.waits.send : t.run.waits[answer.kind];
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={answer.kind === "signal" ? t.run.waits.signal(visibleLine(answer.signal)) : label}
    >
      {answer.kind === "reject" ? (
        <label className="field">
          {t.run.waits.why}
          <input className="input" value={why} onChange={(event) => setWhy(event.target.value)} />
        </label>
      ) : (
        value.field(t.run.waits.value)
      )}
      <div className="field">
        <span className="label dim">{t.run.asCommand}</span>
        <CommandLine command={commandOf(answer)} />
      </div>
      <div className="actions">
        <Button onClick={onClose}>{t.common.cancel}</Button>
        <Button look={answer.kind === "reject" ? "danger" : "primary"} onClick={() => void send()}>
          {label}
        </Button>
      </div>
    </Dialog>
  );
}

function addressOf(answer: Answer): string {
  if (answer.kind === "signal") return path`/runs/${answer.run}/signals/${answer.signal}`;
  return path`/awakeables/${answer.id}/` + answer.kind;
}

function commandOf(answer: Answer): string {
  if (answer.kind === "signal") return `npx perdure signal ${answer.run} '${answer.signal}' '<json>'`;
  return `npx perdure ${answer.kind} ${answer.id} ${answer.kind === "reject" ? "'<reason>'" : "'<json>'"}`;
}
