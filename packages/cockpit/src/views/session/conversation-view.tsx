// The conversation as a list of which only the rows in sight are in the document; it keeps to its end while it grows.

import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown, ArrowUp, MessagesSquare } from "lucide-react";
import { useEffect, useEffectEvent, useMemo, useRef, useState, type ReactNode } from "react";
import type { ApprovalSummary, RunSummary } from "@perdure/protocol";
import { useMessages } from "../../i18n/use-messages.ts";
import { useHotkeys } from "../../keys/use-hotkeys.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/states.tsx";
import { BlockMenu, type BlockAction } from "./block-menu.tsx";
import { BlockRow } from "./blocks.tsx";
import type { Block } from "./conversation.ts";
import { OpenPartsContext, type OpenParts } from "./open-parts.ts";
import { useStickToBottom } from "./stick-to-bottom.ts";

export interface ConversationViewProps {
  readonly blocks: readonly Block[];
  readonly runs: ReadonlyMap<string, RunSummary>;
  readonly approvals: ReadonlyMap<string, ApprovalSummary>;
  readonly hasEarlier: boolean;
  readonly onEarlier: () => Promise<void>;
  /** Offset of the item that is looked at. */
  readonly at: number | undefined;
  readonly onAct: (action: BlockAction) => void;
}

const ROW_PX = 96;
const EARLIER_PX = 300;

export function ConversationView(props: ConversationViewProps): ReactNode {
  const t = useMessages().session;
  const parts = useOpenParts();
  if (props.blocks.length === 0)
    return (
      <div className="conversation-scroll">
        <Empty icon={<MessagesSquare aria-hidden />} title={t.empty}>
          <p>{t.emptyHelp}</p>
        </Empty>
      </div>
    );
  return (
    <OpenPartsContext value={parts}>
      <Scrolled {...props} />
    </OpenPartsContext>
  );
}

function Scrolled(props: ConversationViewProps): ReactNode {
  const { blocks, hasEarlier, onEarlier, at } = props;
  const t = useMessages().session;
  // Elements in the state, and no refs: what is within has to be told when they are there.
  const [scroller, setScroller] = useState<HTMLElement | null>(null);
  const [content, setContent] = useState<HTMLElement | null>(null);
  const stick = useStickToBottom(scroller, content, blocks[0]?.key, at === undefined);
  const loadEarlier = useOnce(() => {
    stick.keepPlace();
    return onEarlier();
  });
  useHotkeys([{ keys: "G", label: t.toBottom, run: stick.toBottom }]);
  return (
    <div className="conversation-frame">
      <div
        ref={setScroller}
        className="conversation-scroll"
        tabIndex={0}
        role="log"
        aria-label={t.tabs.conversation}
        onScroll={({ currentTarget: { scrollTop } }) => {
          stick.onScroll();
          if (hasEarlier && scrollTop < EARLIER_PX) loadEarlier();
        }}
      >
        <div ref={setContent} className="conversation">
          {hasEarlier ? (
            <p className="earlier">
              <Button look="ghost" size="s" onClick={loadEarlier}>
                <ArrowUp aria-hidden />
                {t.earlier}
              </Button>
            </p>
          ) : null}
          <Rows {...props} scroller={scroller} />
        </div>
      </div>
      {stick.isPinned ? null : (
        <button type="button" className="to-bottom" onClick={stick.toBottom}>
          <ArrowDown aria-hidden />
          {t.toBottom}
        </button>
      )}
    </div>
  );
}

/** One at a time; where it fails, the next scroll asks again. */
function useOnce(load: () => Promise<void>): () => void {
  const isLoading = useRef(false);
  return () => {
    if (isLoading.current) return;
    isLoading.current = true;
    const done = (): void => {
      isLoading.current = false;
    };
    load().then(done, done);
  };
}

function Rows(props: ConversationViewProps & { readonly scroller: HTMLElement | null }): ReactNode {
  const { blocks, at, scroller } = props;
  const virtual = useVirtualizer({
    count: blocks.length,
    getScrollElement: () => scroller,
    estimateSize: () => ROW_PX,
    overscan: 6,
    getItemKey: (index) => blocks[index]?.key ?? index,
  });
  const current = useCursor(blocks, scroller === null ? undefined : at, (index, align) =>
    virtual.scrollToIndex(index, { align }),
  );
  return (
    <div style={{ height: virtual.getTotalSize(), position: "relative" }}>
      {virtual.getVirtualItems().map(({ index, start, key }) => (
        <div
          key={key}
          ref={virtual.measureElement}
          data-index={index}
          className="virtual-row"
          style={{ transform: `translateY(${start}px)` }}
        >
          <Row {...props} block={blocks[index]} isCurrent={index === current} />
        </div>
      ))}
    </div>
  );
}

interface RowProps extends ConversationViewProps {
  readonly block: Block | undefined;
  readonly isCurrent: boolean;
}

function Row({ block, isCurrent, runs, approvals, onAct }: RowProps): ReactNode {
  if (block === undefined) return null;
  return (
    <BlockRow
      block={block}
      isCurrent={isCurrent}
      run={runs.get(runIdOf(block) ?? "")}
      approvals={approvals}
      menu={<BlockMenu block={block} onAct={onAct} />}
    />
  );
}

function runIdOf(block: Block): string | undefined {
  if (block.kind === "message") return block.message.id;
  return block.kind === "pending" ? block.message.runId : undefined;
}

/** The row that the keyboard is at: the one in the address at first. @param at undefined where there is none, or not yet. */
function useCursor(
  blocks: readonly Block[],
  at: number | undefined,
  reveal: (index: number, align: "auto" | "center") => void,
): number | null {
  const t = useMessages().common.keys;
  const [key, setKey] = useState<string | null>(null);
  const found = blocks.findIndex((block) => block.key === key);
  const showFirst = useEffectEvent((offset: number) => {
    const index = blocks.findLastIndex((block) => "offset" in block && block.offset !== null && block.offset <= offset);
    if (index < 0) return;
    setKey(blocks[index]?.key ?? null);
    reveal(index, "center");
  });
  useEffect(() => {
    if (at !== undefined) showFirst(at);
  }, [at]);
  const move = (by: number): void => {
    const from = found < 0 ? (by > 0 ? blocks.length - 2 : blocks.length) : found;
    const next = Math.min(blocks.length - 1, Math.max(0, from + by));
    setKey(blocks[next]?.key ?? null);
    reveal(next, "auto");
  };
  useHotkeys([
    { keys: "j", label: t.next, run: () => move(1) },
    { keys: "k", label: t.previous, run: () => move(-1) },
    { keys: "Enter", label: t.open, run: enterCurrent },
  ]);
  return found < 0 ? null : found;
}

/** The focus goes to what can be opened or done in the row. */
function enterCurrent(): void {
  document.querySelector<HTMLElement>(".block[data-current] :is(button, a, summary)")?.focus();
}

function useOpenParts(): OpenParts {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  return useMemo(
    () => ({
      isToggled: (id) => open.has(id),
      toggle: (id) =>
        setOpen((before) => {
          const after = new Set(before);
          if (!after.delete(id)) after.add(id);
          return after;
        }),
    }),
    [open],
  );
}
