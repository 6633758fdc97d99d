// What the globals of an isolate do to the outside: outside of steps they are durable or replayable, inside they are real.

import { ContextMisuseError } from "@perdure/protocol";
import { ignoreRejection } from "../attempt/promises.ts";
import type { FetchAnswer } from "../ports.ts";
import type { Guest } from "./guest.ts";
import { HOST_FETCH } from "./guest-ports.ts";
import type { GuestHost } from "./host-port.ts";

declare const TextEncoder: new () => { encode(text: string): Uint8Array };
declare const atob: (base64: string) => string;

export function guestHostOf(guest: Guest): GuestHost {
  const { ports } = guest;
  let lastTimer = 0;
  const cancels = new Map<number, () => void>();
  return {
    log: (level, text) => {
      const attempt = guest.attempt;
      if (attempt === undefined) guest.outbox.add({ type: "log", level, message: text });
      else attempt.log(level, text, undefined); // Silent while it replays.
    },
    setTimer: (callback, ms) => {
      lastTimer += 1;
      const timer = lastTimer;
      cancels.set(
        timer,
        startTimer(guest, Math.max(0, ms), () => {
          cancels.delete(timer);
          callback();
        }),
      );
      return timer;
    },
    clearTimer: (timer) => {
      cancels.get(timer)?.();
      cancels.delete(timer);
    },
    fetch: async (request) => {
      if (!ports.insideStep())
        throw new ContextMisuseError(
          "fetch was called outside of a step: a request is an effect; write ctx.fetch(url), or call fetch inside ctx.step(…)",
        );
      const { signal, ...rest } = request;
      const answer = (await guest.calls.call(HOST_FETCH, [
        rest,
        { signal: signal ?? ports.createAbortController().signal },
      ])) as FetchAnswer;
      return {
        ...answer,
        headers: answer.headers.map(([name, value]): [string, string] => [name, value]),
        body: bytesOf(answer.body),
      };
    },
    randomUUID: () => (ports.insideStep() ? uuidFrom(ports.randomBytes(16)) : guest.uuid()),
    randomBytes: (count) => {
      if (!ports.insideStep())
        throw new ContextMisuseError(
          "crypto.getRandomValues was called outside of a step: what a replay draws again is no secret; call it inside ctx.step(…)",
        );
      return ports.randomBytes(count);
    },
  };
}

function bytesOf(body: FetchAnswer["body"]): Uint8Array | null {
  if (body === null) return null;
  return "text" in body
    ? new TextEncoder().encode(body.text)
    : Uint8Array.from(atob(body.base64), (character) => character.charCodeAt(0));
}

/** Version 4. */
function uuidFrom(bytes: Uint8Array): string {
  const hex = Array.from(bytes, (byte, at) => {
    const bits = at === 6 ? (byte & 0x0f) | 0x40 : at === 8 ? (byte & 0x3f) | 0x80 : byte;
    return bits.toString(16).padStart(2, "0");
  }).join("");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

function startTimer(guest: Guest, ms: number, callback: () => void): () => void {
  const { ports, attempt } = guest;
  if (ports.insideStep() || attempt === undefined) return ports.delay(ms, callback);
  let cleared = false;
  const slept = attempt.request({ type: "sleep", name: "setTimeout", wakeAt: ports.now() + ms });
  ignoreRejection(slept); // A cancel ends it without a call, as clearTimeout does.
  void slept.then(() => {
    if (!cleared) callback();
  });
  return () => {
    cleared = true;
  };
}
