// A tool call: one line, and behind it with what it was called and what came of it.

import { Link } from "@tanstack/react-router";
import { Ban, Check, CircleDashed, CircleSlash, LoaderCircle, ShieldQuestion, TriangleAlert } from "lucide-react";
import { createContext, useContext, type ReactNode } from "react";
import type { ApprovalSummary, JsonValue, RunStatus } from "@perdure/protocol";
import { useMessages } from "../../i18n/use-messages.ts";
import { Payload } from "../../ui/payload.tsx";
import { RunLink } from "../../ui/run-link.tsx";
import { Badge, StatusBadge, type Tone } from "../../ui/status-badge.tsx";
import { visibleLine, visibleText } from "../../ui/visible-text.ts";
import { ApprovalCard } from "../../approvals/approval-card.tsx";
import type { ToolPart } from "./conversation.ts";
import { Disclosure } from "./disclosure.tsx";

const LOOKS: Readonly<Record<ToolPart["state"], { readonly tone: Tone; readonly icon: ReactNode }>> = {
  writing: { tone: "blue", icon: <LoaderCircle className="spins" aria-hidden /> },
  running: { tone: "blue", icon: <LoaderCircle className="spins" aria-hidden /> },
  asks: { tone: "orange", icon: <ShieldQuestion aria-hidden /> },
  ok: { tone: "green", icon: <Check aria-hidden /> },
  error: { tone: "red", icon: <TriangleAlert aria-hidden /> },
  denied: { tone: "red", icon: <Ban aria-hidden /> },
  interrupted: { tone: "grey", icon: <CircleSlash aria-hidden /> },
  none: { tone: "grey", icon: <CircleDashed aria-hidden /> },
};

const PREVIEW_LENGTH = 160;

/** How the session's sub-agents stand, by their runs. */
export const ChildStatusContext = createContext<ReadonlyMap<string, RunStatus>>(new Map());

export interface ToolCallProps {
  readonly part: ToolPart;
  /** Names it among all of the conversation. */
  readonly name: string;
  /** The question that it waits for, where that is open. */
  readonly approval: ApprovalSummary | undefined;
}

export function ToolCall({ part, name, approval }: ToolCallProps): ReactNode {
  const t = useMessages().session.tool;
  const { tone, icon } = LOOKS[part.state];
  const isPlain = part.state === "ok" || part.state === "running";
  return (
    <div className="tool-call" data-tone={tone}>
      <Disclosure
        id={name}
        startsOpen={part.state === "asks"}
        summary={
          <>
            <span className="tool-icon" title={t.state[part.state]}>
              {icon}
            </span>
            <b className="tool-name">{visibleLine(part.name)}</b>
            <span className="tool-preview cut dim">{previewOf(part.input)}</span>
            {isPlain ? <span className="visually-hidden">{t.state[part.state]}</span> : null}
            {isPlain ? null : <Badge tone={tone}>{t.state[part.state]}</Badge>}
          </>
        }
      >
        <ToolDetails part={part} />
      </Disclosure>
      {part.child === undefined ? null : <ChildLine child={part.child} />}
      {approval === undefined ? null : <ApprovalCard approval={approval} isPlaced />}
    </div>
  );
}

function previewOf(input: JsonValue): string {
  if (typeof input !== "object" || input === null || Array.isArray(input))
    return visibleLine((typeof input === "string" ? input : JSON.stringify(input)).slice(0, PREVIEW_LENGTH));
  const parts = Object.entries(input).map(
    ([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return visibleLine(parts.join("  ").slice(0, PREVIEW_LENGTH));
}

function ToolDetails({ part }: { readonly part: ToolPart }): ReactNode {
  const t = useMessages();
  const says = t.session.tool;
  const { input, output, decision, progress, state } = part;
  return (
    <div className="tool-details">
      <section>
        <h2>{says.input}</h2>
        <Payload value={input} />
      </section>
      {decision === undefined ? null : (
        <p className="tool-decision" data-tone={decision.decision === "approved" ? "green" : "red"}>
          <b>{says.decision[decision.decision]}</b>
          {decision.by === undefined ? null : ` ${t.approvals.answeredBy(visibleLine(decision.by))}`}
          {decision.comment === undefined ? null : <q>{visibleText(decision.comment)}</q>}
        </p>
      )}
      {decision?.input === undefined ? null : (
        <section>
          <h2>{says.changed}</h2>
          <Payload value={decision.input} />
        </section>
      )}
      {progress === undefined ? null : (
        <section>
          <h2>{says.progress}</h2>
          <Payload value={progress} />
        </section>
      )}
      {output === undefined ? null : (
        <section>
          <h2>{state === "error" || state === "denied" ? says.error : says.output}</h2>
          <Payload value={output} />
        </section>
      )}
    </div>
  );
}

/** The sub-agent behind a call, and how it stands. */
function ChildLine({ child: { agent, session, run } }: { readonly child: NonNullable<ToolPart["child"]> }): ReactNode {
  const t = useMessages().session.tool;
  const status = useContext(ChildStatusContext).get(run);
  return (
    <p className="child-line">
      <span className="dim">{t.child}</span>
      <Link className="run-link" to="/agents/$agent/$session" params={{ agent, session }}>
        {visibleLine(`${agent}/${session}`)}
      </Link>
      {status === undefined ? <RunLink id={run} /> : <StatusBadge status={status} />}
    </p>
  );
}
