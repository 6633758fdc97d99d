// What the globals of an isolate ask of the outside
// =================================================
// `loading` (nothing is provided: the bundle's modules are being evaluated) ──provide──▶ `provided`
//
// While it loads there is no run yet, and what comes of loading is shared by all runs: they begin as copies of one image. So a
// timer or a random number is refused there; what is logged is kept, and told once.
//
// It imports nothing: modules that are imported are evaluated before the globals are there.

import type { ReadableStream } from "web-streams-polyfill";
import type { AbortSignalLike } from "../ports.ts";

export type GuestLogLevel = "debug" | "info" | "warn" | "error";

export interface GuestRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: [string, string][];
  readonly body: Uint8Array | null;
  readonly signal: AbortSignalLike | null;
}

export interface GuestResponse {
  readonly status: number;
  readonly statusText: string;
  /** The last one, where it was redirected. */
  readonly url: string;
  readonly headers: [string, string][];
  readonly body: ReadableStream<Uint8Array> | Uint8Array | null;
}

export interface GuestHost {
  log(level: GuestLogLevel, text: string): void;
  /** A durable timer outside of steps (a `sleep` of the run), a plain one inside. Gives an id. */
  setTimer(callback: () => void, ms: number): number;
  clearTimer(id: number): void;
  /** The host's, inside steps. @throws ContextMisuseError outside of a step */
  fetch(request: GuestRequest): Promise<GuestResponse>;
  randomUUID(): string;
  randomBytes(count: number): Uint8Array;
}

const early: [level: GuestLogLevel, text: string][] = [];

const loading: GuestHost = {
  log: (level, text) => void early.push([level, text]),
  setTimer: () => refuse("a timer was set"),
  clearTimer: () => undefined,
  fetch: async () => refuse("fetch was called"),
  randomUUID: () => refuse("a UUID was made"),
  randomBytes: () => refuse("random bytes were asked for"),
};

export let guestHost: GuestHost = loading;

export function provideGuestHost(host: GuestHost): void {
  guestHost = host;
  for (const [level, text] of early.splice(0)) host.log(level, text);
}

function refuse(what: string): never {
  throw new Error(
    `${what} while the module was loaded: all runs begin with what it is then, so it would be the same for all of them. Do it in ` +
      "a handler.",
  );
}
