// What the agent said and did in one model call.

import { RefreshCw } from "lucide-react";
import type { ReactNode } from "react";
import type { ApprovalSummary } from "@perdure/protocol";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { visibleLine, visibleText } from "../../ui/visible-text.ts";
import type { AnswerBlock, Part } from "./conversation.ts";
import { Disclosure } from "./disclosure.tsx";
import { StreamedText } from "./streamed-text.tsx";
import { ToolCall } from "./tool-call.tsx";

export interface AnswerProps {
  readonly block: AnswerBlock;
  /** By id: the questions that are open. */
  readonly approvals: ReadonlyMap<string, ApprovalSummary>;
}

export function Answer({ block, approvals }: AnswerProps): ReactNode {
  const t = useMessages().session;
  const { parts, state, superseded, error } = block;
  const isSpeaking = state === "speaking";
  const sources = parts.filter((part) => part.kind === "source");
  return (
    <div className="answer" aria-busy={isSpeaking || undefined}>
      {superseded === 0 ? null : (
        <p className="answer-note" data-tone="amber">
          <RefreshCw aria-hidden />
          {t.tries(superseded)}
        </p>
      )}
      {parts.map((part, at) => (
        <AnswerPart
          key={`${part.kind} ${part.id}`}
          part={part}
          name={`${block.key}/${part.id}`}
          isOpen={isSpeaking && at === parts.length - 1}
          approvals={approvals}
        />
      ))}
      {sources.length === 0 ? null : (
        <p className="sources">
          <span className="dim">{t.sources}</span>
          {sources.map((source) => (
            <Source key={source.id} url={source.url} title={source.title} />
          ))}
        </p>
      )}
      <Meta block={block} />
      {isSpeaking ? <span className="speaking">{parts.length === 0 ? t.writing : ""}</span> : null}
      {state === "partial" ? <p className="answer-note dim">{t.partial}</p> : null}
      {state === "failed" ? (
        <p className="answer-note" data-tone="amber">
          <RefreshCw aria-hidden />
          {t.callFailed}
          {error === null ? null : `: ${visibleText(error)}`}
        </p>
      ) : null}
    </div>
  );
}

/** Which model, when, and with how many tokens: shown where somebody points at it. */
function Meta({ block: { model, usage, at } }: { readonly block: AnswerBlock }): ReactNode {
  const t = useMessages().session;
  const format = useFormat();
  const instant = Date.parse(at);
  return (
    <p className="answer-meta dim">
      <span>{visibleLine(model)}</span>
      {usage === null ? null : <span>{t.tokens(format.compact(usage.inputTokens + usage.outputTokens))}</span>}
      <time dateTime={at} title={format.dateTime(instant)}>
        {format.time(instant)}
      </time>
    </p>
  );
}

interface AnswerPartProps {
  readonly part: Part;
  readonly name: string;
  /** The model still writes it. */
  readonly isOpen: boolean;
  readonly approvals: ReadonlyMap<string, ApprovalSummary>;
}

function AnswerPart({ part, name, isOpen, approvals }: AnswerPartProps): ReactNode {
  const t = useMessages().session;
  switch (part.kind) {
    case "text":
      return <StreamedText text={part.text} isOpen={isOpen} />;
    case "reasoning":
      return <Reasoning id={name} text={part.text} isOpen={isOpen} />;
    case "tool": {
      const approval = part.state === "asks" ? approvals.get(part.approval ?? "") : undefined;
      return <ToolCall part={part} name={name} approval={approval} />;
    }
    case "file":
      return <p className="dim">{t.file(visibleLine(part.mediaType))}</p>;
    case "source":
      return null; // All of them stand below.
  }
}

const PREVIEW_LENGTH = 200;

/** While it thinks, the end of it is seen; afterwards it is one line. */
function Reasoning({
  id,
  text,
  isOpen,
}: {
  readonly id: string;
  readonly text: string;
  readonly isOpen: boolean;
}): ReactNode {
  const t = useMessages().session;
  if (isOpen)
    return (
      <div className="reasoning" data-live>
        <p className="dim">{t.thinking}</p>
        <div className="reasoning-tail">
          <p>{visibleText(text)}</p>
        </div>
      </div>
    );
  return (
    <Disclosure
      id={id}
      className="reasoning"
      summary={
        <>
          <span className="thoughts">{t.thoughts}</span>
          <span className="tool-preview cut dim">{visibleLine(text.slice(0, PREVIEW_LENGTH))}</span>
        </>
      }
    >
      <p className="reasoning-text">{visibleText(text)}</p>
    </Disclosure>
  );
}

function Source({ url, title }: { readonly url: string; readonly title: string }): ReactNode {
  const isWeb = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  if (!isWeb) return <span>{visibleLine(title)}</span>;
  return (
    <a href={url} target="_blank" rel="noopener noreferrer nofollow" title={visibleLine(url)}>
      {visibleLine(title)}
    </a>
  );
}
