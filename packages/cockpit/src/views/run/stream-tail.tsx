// The end of a stream, followed: new items appear below, and the page stays with them until one scrolls up to read.

import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, useState, useSyncExternalStore, type ReactNode, type RefObject } from "react";
import type { StreamItemView, StreamPageAnswer } from "@perdure/protocol";
import { useApi } from "../../app/app-context.ts";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { useHotkeys } from "../../keys/use-hotkeys.ts";
import { Follower } from "../../live/follower.ts";
import { Button } from "../../ui/button.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Payload } from "../../ui/payload.tsx";
import { sayFailure } from "../../ui/toasts.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import { earlierFrom, NO_ITEMS, taken, withEarlier, type StreamItems } from "./stream-items.ts";

const FIRST_ITEMS = 200;
const ROW_PX = 28;
const PREVIEW_LENGTH = 300;

export interface StreamTailProps {
  readonly address: string;
  /** Its end, as it was first seen: it is followed from a little before. */
  readonly end: number;
}

export function StreamTail({ address, end }: StreamTailProps): ReactNode {
  const t = useMessages().run.streams;
  const tail = useTail(address, end);
  const [isFollowing, setFollowing] = useState(true);
  const [chosen, setChosen] = useState<number | null>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const { items } = tail.shown;
  const detail = items.find(({ offset }) => offset === chosen);
  const choose = (offset: number | null): void => {
    if (offset !== null) setFollowing(false);
    setChosen(offset);
  };
  return (
    <div className="stream-tail" data-split={detail !== undefined || undefined}>
      <div className="panel stream-panel">
        <header className="stream-head">
          <span className="dim">{tail.isLive ? t.live : t.reconnecting}</span>
          <Button size="s" aria-pressed={isFollowing} onClick={() => setFollowing(!isFollowing)}>
            {isFollowing ? t.following : t.follow}
          </Button>
        </header>
        <div
          className="stream-scroll"
          ref={scroller}
          tabIndex={0}
          role="group"
          aria-label={t.items}
          onWheel={(event) => (event.deltaY < 0 ? setFollowing(false) : undefined)}
        >
          {tail.canReadEarlier ? (
            <p className="stream-earlier">
              <Button look="ghost" size="s" onClick={() => void tail.readEarlier()}>
                {t.earlier}
              </Button>
            </p>
          ) : null}
          <Rows items={items} scroller={scroller} isFollowing={isFollowing} chosen={chosen} onChoose={choose} />
          {items.length === 0 ? <p className="stream-earlier dim">{t.empty}</p> : null}
        </div>
      </div>
      {detail === undefined ? null : (
        <Panel title={t.item(String(detail.offset))}>
          <div className="body">
            <Payload value={detail.item} />
          </div>
        </Panel>
      )}
    </div>
  );
}

function useTail(address: string, end: number) {
  const api = useApi();
  const [shown, setShown] = useState<StreamItems>(NO_ITEMS);
  const [follower, setFollower] = useState<Follower | null>(null);
  const first = useRef(end);
  useEffect(() => {
    const made = new Follower(api, {
      path: address,
      query: { from: Math.max(0, first.current - FIRST_ITEMS) },
      onMessages: (messages) => setShown((before) => taken(before, messages)),
    });
    setFollower(made);
    made.start();
    return () => made.stop();
  }, [api, address]);
  const state = useSyncExternalStore(
    (listener) => follower?.state.subscribe(listener) ?? (() => undefined),
    () => follower?.state.get().kind ?? "connecting",
  );
  const from = earlierFrom(shown, FIRST_ITEMS);
  const readEarlier = async (): Promise<void> => {
    if (from === null) return;
    try {
      const page = await api.get<StreamPageAnswer>(address, { query: { follow: false, from, limit: FIRST_ITEMS } });
      setShown((before) => withEarlier(before, page));
    } catch (error) {
      sayFailure(error);
    }
  };
  return { shown, isLive: state === "live", canReadEarlier: from !== null, readEarlier };
}

interface RowsProps {
  readonly items: readonly StreamItemView[];
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly isFollowing: boolean;
  readonly chosen: number | null;
  readonly onChoose: (offset: number | null) => void;
}

function Rows({ items, scroller, isFollowing, chosen, onChoose }: RowsProps): ReactNode {
  const t = useMessages();
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 20,
    getItemKey: (at) => items[at]?.offset ?? at,
  });
  useEffect(() => {
    if (isFollowing && items.length > 0) virtual.scrollToIndex(items.length - 1, { align: "end" });
  }, [items, isFollowing, virtual]);
  const at = items.findIndex(({ offset }) => offset === chosen);
  const move = (by: number): void => {
    const next = Math.min(items.length - 1, Math.max(0, at < 0 ? items.length - 1 : at + by));
    onChoose(items[next]?.offset ?? null);
    virtual.scrollToIndex(next, { align: "auto" });
  };
  useHotkeys([
    { keys: "j", label: t.common.keys.next, run: () => move(1) },
    { keys: "k", label: t.common.keys.previous, run: () => move(-1) },
    { keys: "Escape", label: t.run.streams.close, run: () => onChoose(null) },
  ]);
  return (
    <div style={{ height: virtual.getTotalSize(), position: "relative" }}>
      {virtual.getVirtualItems().map(({ index, start, key }) => {
        const item = items[index];
        if (item === undefined) return null;
        return (
          <div key={key} className="virtual-row" style={{ transform: `translateY(${start}px)` }}>
            <Row item={item} isChosen={item.offset === chosen} onChoose={onChoose} />
          </div>
        );
      })}
    </div>
  );
}

interface RowProps {
  readonly item: StreamItemView;
  readonly isChosen: boolean;
  readonly onChoose: (offset: number | null) => void;
}

function Row({ item: { offset, at, writer, item }, isChosen, onChoose }: RowProps): ReactNode {
  const format = useFormat();
  const text = typeof item === "string" ? item : JSON.stringify(item);
  return (
    <button
      type="button"
      className="stream-row"
      aria-pressed={isChosen}
      onClick={() => onChoose(isChosen ? null : offset)}
    >
      <span className="dim numeric">{offset}</span>
      <time className="dim" dateTime={at}>
        {format.clock(Date.parse(at))}
      </time>
      <span className="dim wide">{writer === null ? "" : visibleLine(writer)}</span>
      <span className="cut">{visibleLine(text.slice(0, PREVIEW_LENGTH))}</span>
    </button>
  );
}
