// The live store, fed by the event stream: one of both in a page.

import type { ApiClient } from "../api/client.ts";
import { EventStream } from "./event-stream.ts";
import { LiveStore } from "./live-store.ts";
import type { Live } from "./use-live.ts";

/** A hidden page draws no frames; what comes in is still taken in, at leisure. */
const HIDDEN_FLUSH_MS = 500;

export function createLive(api: ApiClient): Live {
  const store = new LiveStore({ schedule: beforeNextFrame });
  const stream = new EventStream(api, { onEvents: (events) => store.push(events) });
  return { store, stream };
}

function beforeNextFrame(flush: () => void): void {
  let isDone = false;
  const once = (): void => {
    if (isDone) return;
    isDone = true;
    flush();
  };
  requestAnimationFrame(once);
  setTimeout(once, HIDDEN_FLUSH_MS);
}
