// A stream of server-sent events, followed across whatever ends a connection
// =========================================================================
//   connecting ─▶ live ─▶ reconnecting ─▶ live …
//                             └─▶ refused (the server asks for another token; `start` tries again)
//
// S1. Messages come in order, each at most once: a connection begins after the last id that was seen.
// S2. What cannot be told any more is announced by `reset`: whoever keeps something reads it anew.
// S3. A connection that is silent for longer than the server's signs of life allow is given up.
//
// EventSource cannot send a header, and a token in an address would be written into logs: so this is fetch.

import { ApiFailure, type ApiClient, type Query } from "../api/client.ts";
import { createSignal, type Signal } from "../api/signal.ts";
import { SseParser, type SseMessage } from "./sse-parser.ts";

export type LiveState =
  | { readonly kind: "connecting" }
  | { readonly kind: "live" }
  /** `since`: when the connection was lost. */
  | { readonly kind: "reconnecting"; readonly since: number }
  | { readonly kind: "refused" };

export interface FollowPace {
  /** Fractions of the pause that are left to chance; a test says how much. */
  readonly random?: () => number;
  readonly pauseMinMs?: number;
  readonly pauseMaxMs?: number;
  readonly silenceMs?: number;
}

export interface FollowerOptions extends FollowPace {
  readonly path: string;
  /** Of the first connection: the later ones go on behind the last id. */
  readonly query?: Query;
  readonly onMessages: (messages: readonly SseMessage[]) => void;
}

const PAUSE_MIN_MS = 500;
const PAUSE_MAX_MS = 10_000;
/** The server says something every 15 s. */
const SILENCE_MS = 40_000;

export class Follower {
  readonly state: Signal<LiveState> = createSignal<LiveState>({ kind: "connecting" });
  readonly #api: Pick<ApiClient, "open">;
  readonly #options: Required<FollowerOptions>;
  #lastId = "";
  #failures = 0;
  #stop: AbortController | null = null;
  #wake: (() => void) | null = null;

  constructor(api: Pick<ApiClient, "open">, options: FollowerOptions) {
    this.#api = api;
    this.#options = {
      query: {},
      random: Math.random,
      pauseMinMs: PAUSE_MIN_MS,
      pauseMaxMs: PAUSE_MAX_MS,
      silenceMs: SILENCE_MS,
      ...options,
    };
  }

  start(): void {
    if (this.#stop !== null) return;
    const stop = new AbortController();
    this.#stop = stop;
    if (this.state.get().kind === "refused") this.state.set({ kind: "connecting" });
    void this.#run(stop.signal).finally(() => {
      if (this.#stop === stop) this.#stop = null;
    });
  }

  stop(): void {
    this.#stop?.abort();
    this.#stop = null;
    this.#wake?.();
  }

  /** There is reason to believe that the server is back: the pause ends. */
  retryNow(): void {
    this.#failures = 0;
    this.#wake?.();
  }

  async #run(stopped: AbortSignal): Promise<void> {
    while (!stopped.aborted) {
      const isRefused = await this.#connect(stopped).catch((error: unknown) => isUnauthorized(error));
      if (stopped.aborted) return;
      if (isRefused) {
        this.state.set({ kind: "refused" });
        return;
      }
      if (this.state.get().kind !== "reconnecting") this.state.set({ kind: "reconnecting", since: Date.now() });
      await this.#pause();
    }
  }

  /** One connection, from its beginning to its end. */
  async #connect(stopped: AbortSignal): Promise<false> {
    const silence = new AbortController();
    const signal = AbortSignal.any([stopped, silence.signal]);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const heard = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), this.#options.silenceMs);
    };
    heard();
    try {
      const headers: Record<string, string> = this.#lastId === "" ? {} : { "last-event-id": this.#lastId };
      const { path, query } = this.#options;
      const response = await this.#api.open("GET", path, this.#lastId === "" ? { query, signal } : { signal }, headers);
      if (response.body === null) return false;
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      const parser = new SseParser();
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return false;
        heard();
        this.#take(parser.push(value), parser.lastId);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  #take(messages: readonly SseMessage[], lastId: string): void {
    if (lastId !== "") this.#lastId = lastId;
    if (this.state.get().kind !== "live") {
      this.#failures = 0;
      this.state.set({ kind: "live" });
    }
    if (messages.length > 0) this.#options.onMessages(messages);
  }

  #pause(): Promise<void> {
    const { pauseMinMs, pauseMaxMs, random } = this.#options;
    const whole = Math.min(pauseMaxMs, pauseMinMs * 2 ** this.#failures);
    this.#failures += 1;
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, whole * (0.5 + random() / 2));
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof ApiFailure && error.status === 401;
}
