// The transcript as it is stored: each item with its offset, its time and, where it has one, its run.

import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowUp, ScrollText } from "lucide-react";
import { useRef, useState, type ReactNode } from "react";
import type { JsonValue } from "@perdure/protocol";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { Button } from "../../ui/button.tsx";
import { Payload } from "../../ui/payload.tsx";
import { RunLink } from "../../ui/run-link.tsx";
import { Empty } from "../../ui/states.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import type { Stored, TranscriptItem } from "./items.ts";

export interface TranscriptTabProps {
  readonly items: readonly Stored<TranscriptItem>[];
  readonly hasEarlier: boolean;
  readonly onEarlier: () => Promise<void>;
}

const ROW_PX = 34;
const SHOWN_LENGTH = 240;

export function TranscriptTab({ items, hasEarlier, onEarlier }: TranscriptTabProps): ReactNode {
  const t = useMessages().session;
  const scroller = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState<number | null>(null);
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
    getItemKey: (index) => items[index]?.offset ?? index,
  });
  if (items.length === 0) return <Empty icon={<ScrollText aria-hidden />} title={t.transcript.empty} />;
  return (
    <div ref={scroller} className="transcript-scroll" tabIndex={0} aria-label={t.tabs.transcript} role="region">
      {hasEarlier ? (
        <p className="earlier">
          <Button look="ghost" size="s" onClick={() => void onEarlier()}>
            <ArrowUp aria-hidden />
            {t.earlier}
          </Button>
        </p>
      ) : null}
      <div className="transcript-list" style={{ height: virtual.getTotalSize(), position: "relative" }}>
        {virtual.getVirtualItems().map(({ index, start, key }) => {
          const stored = items[index];
          if (stored === undefined) return null;
          return (
            <div
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              className="virtual-row"
              style={{ transform: `translateY(${start}px)` }}
            >
              <Item
                stored={stored}
                isOpen={stored.offset === open}
                onToggle={() => setOpen(stored.offset === open ? null : stored.offset)}
              />
            </div>
          );
        })}
      </div>
    </div>
  );
}

interface ItemProps {
  readonly stored: Stored<TranscriptItem>;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

function Item({ stored: { offset, at, item }, isOpen, onToggle }: ItemProps): ReactNode {
  const format = useFormat();
  const instant = Date.parse(at);
  const json = item.type === "unknown" ? item.json : (item as unknown as JsonValue);
  return (
    <div className="transcript-item" data-open={isOpen || undefined}>
      <button type="button" aria-expanded={isOpen} onClick={onToggle}>
        <span className="numeric dim">{offset}</span>
        <span className="mono">{item.type}</span>
        <span className="cut">{visibleLine(wordsOf(item).slice(0, SHOWN_LENGTH))}</span>
        <time className="dim" dateTime={at} title={format.dateTime(instant)}>
          {format.clock(instant)}
        </time>
      </button>
      {isOpen ? (
        <div className="transcript-open">
          {item.type === "message" ? <RunLink id={item.id} /> : null}
          <Payload value={json} />
        </div>
      ) : null}
    </div>
  );
}

function wordsOf(item: TranscriptItem): string {
  switch (item.type) {
    case "message":
      return item.text;
    case "assistant":
      return item.content
        .map((part) => (part.type === "text" || part.type === "reasoning" ? part.text : partWords(part)))
        .join(" ");
    case "tool":
      return `${item.name} ${item.outcome}: ${typeof item.output === "string" ? item.output : JSON.stringify(item.output)}`;
    case "decision":
      return [item.decision, item.by, item.comment].filter((word) => word !== undefined).join(" ");
    case "compaction":
      return item.summary;
    case "restart":
      return `from ${item.from}`;
    case "unknown":
      return JSON.stringify(item.json);
  }
}

function partWords(part: Extract<TranscriptItem, { type: "assistant" }>["content"][number]): string {
  return part.type === "tool-call" ? `${part.toolName}(${part.input})` : part.type;
}
