// A stream from outside, as an async iterator: each item once, in order of offsets, also across broken connections
//
// A connection that breaks before anything came goes on from where it was asked to begin: `end` is settled by the first item.

import type { InstantText, StreamRef } from "@perdure/protocol";
import type { AbortSignalLike } from "../ports.ts";
import { serverEvents, type Delay } from "./events.ts";
import type { Http } from "./http.ts";

export interface StreamOptions {
  /** The offset of the first item, or `end`: only what comes. Default 0. */
  readonly from?: number | "end";
  /** Ends it. */
  readonly signal?: AbortSignalLike;
}

export type StreamEvent<T = unknown> =
  | {
      readonly type: "item";
      readonly offset: number;
      readonly at: InstantText;
      /** The try of a step that wrote it; null where a journal tells of it. */
      readonly writer: string | null;
      readonly item: T;
    }
  /** Items were trimmed before they were seen: it goes on from `start`. */
  | { readonly type: "reset"; readonly start: number };

export function streamUrl({ owner, name }: StreamRef): string {
  const stream = encodeURIComponent(name);
  if ("run" in owner) return `/perdure/runs/${owner.run}/streams/${stream}`;
  return `/perdure/streams/${encodeURIComponent(owner.service)}/${encodeURIComponent(owner.key)}/${stream}`;
}

export async function* followStream<T>(
  http: Http,
  url: string,
  { from = 0, signal }: StreamOptions,
  delay: Delay | undefined,
): AsyncGenerator<StreamEvent<T>, void, undefined> {
  const options = signal === undefined ? {} : { signal };
  for await (const { type, data } of serverEvents(http, `${url}?from=${from}`, options, delay)) {
    if (type === "reset") yield { type, start: (data as { readonly start: number }).start };
    else yield { type: "item", ...(data as Omit<Extract<StreamEvent<T>, { type: "item" }>, "type">) };
  }
}
