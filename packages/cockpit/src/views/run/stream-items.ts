// The items of a stream that is followed, as they come
// =====================================================
// T1. Each offset is there once, in order, whatever a connection tells again when it comes back.
// T2. At most `KEPT_MAX` are kept: the oldest go first, and can be read again.
// T3. What was trimmed meanwhile is gone from here, too.

import type { StreamItemView, StreamPageAnswer, StreamReset } from "@perdure/protocol";
import type { SseMessage } from "../../live/sse-parser.ts";

export interface StreamItems {
  readonly items: readonly StreamItemView[];
  /** There are none before it that could be read: the stream begins here. */
  readonly start: number;
}

export const KEPT_MAX = 5_000;

export const NO_ITEMS: StreamItems = { items: [], start: 0 };

export function taken(before: StreamItems, messages: readonly SseMessage[]): StreamItems {
  let { start } = before;
  const items = [...before.items];
  for (const { event, data } of messages) {
    if (event === "reset") {
      ({ start } = JSON.parse(data) as StreamReset);
      items.length = 0; // Those after it are told anew.
      continue;
    }
    const item = JSON.parse(data) as StreamItemView;
    const last = items.at(-1);
    if (last === undefined || item.offset > last.offset) items.push(item);
  }
  return { items: items.length > KEPT_MAX ? items.slice(-KEPT_MAX) : items, start };
}

/** What stands before what is shown. */
export function withEarlier(before: StreamItems, page: StreamPageAnswer): StreamItems {
  const first = before.items[0]?.offset ?? Number.POSITIVE_INFINITY;
  const earlier = page.items.filter(({ offset }) => offset < first);
  return { items: [...earlier, ...before.items], start: page.start };
}

/** Where the page before begins; null: there is nothing before. */
export function earlierFrom({ items, start }: StreamItems, pageItems: number): number | null {
  const first = items[0]?.offset;
  if (first === undefined || first <= start) return null;
  return Math.max(start, first - pageItems);
}
