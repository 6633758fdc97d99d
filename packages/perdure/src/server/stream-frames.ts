// Items of streams as they go over the wire: made once, whoever reads them
// ========================================================================
// F1. While a stream has readers, its newest frames are kept. A frame is only taken for the very item that it was made of.

import type { StreamItem } from "@perdure/engine";
import { itemList, type StreamRef, streamText } from "@perdure/protocol";
import { instantText } from "./views.ts";

/** About what one commit brings. Whoever is further behind than that reads from the store, and pays for it. */
const KEPT_FRAMES = 256;

interface Kept {
  readonly item: StreamItem;
  readonly frame: Buffer;
}

export interface FramesOfStream {
  of(item: StreamItem): Buffer;
  close(): void;
}

export class StreamFrames {
  readonly #streams = new Map<string, { readers: number; readonly kept: Map<number, Kept> }>();

  /** To be closed when its reader goes. */
  open(stream: StreamRef): FramesOfStream {
    const text = streamText(stream);
    const shared = this.#streams.get(text) ?? { readers: 0, kept: new Map<number, Kept>() };
    shared.readers += 1;
    this.#streams.set(text, shared);
    return {
      of: (item) => frameOf(shared.kept, item),
      close: () => {
        shared.readers -= 1;
        if (shared.readers === 0) this.#streams.delete(text);
      },
    };
  }
}

function frameOf(kept: Map<number, Kept>, item: StreamItem): Buffer {
  const known = kept.get(item.offset);
  if (known !== undefined && known.item.payload === item.payload && known.item.at === item.at) return known.frame;
  const frame = Buffer.from(`id: ${item.offset}\ndata: ${itemJson(item)}\n\n`);
  kept.set(item.offset, { item, frame });
  const oldest = kept.size > KEPT_FRAMES ? kept.keys().next() : undefined;
  if (oldest?.done === false) kept.delete(oldest.value);
  return frame;
}

/** A payload is JSON already: it is put in as it is. */
export function itemJson({ offset, at, writer, payload }: StreamItem): string {
  const item = typeof payload === "string" ? payload : itemList([payload]).slice(1, -1);
  const text = `{"offset":${offset},"at":"${instantText(at)}","writer":${JSON.stringify(writer)},"item":${item}}`;
  // Between tokens of JSON there may be line breaks, which would end the line of the event. In strings they are escaped.
  return /[\r\n]/.test(text) ? text.replaceAll(/[\r\n]+/g, " ") : text;
}
