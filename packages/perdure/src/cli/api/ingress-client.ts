// The ingress, as the commands use it: sending, and waiting for results across restarts of the runtime.

import { setTimeout as sleep } from "node:timers/promises";
import { UnreachableError, type RunId, type SendAnswer } from "@perdure/protocol";
import { InterruptedError, RefusedError } from "../errors.ts";
import type { Target } from "../target.ts";
import { askJson, bodyOf, connectionError, open, refusal, type Connection } from "./http.ts";

export interface SendOptions {
  /** JSON text; absent: no input. */
  readonly input: string | undefined;
  readonly delay?: string;
  readonly idempotencyKey?: string;
}

export type Outcome =
  | { readonly kind: "json"; readonly text: string }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "void" }
  | { readonly kind: "failure"; readonly error: RefusedError };

const RETRY_MS_FIRST = 250;
const RETRY_MS_MAX = 5_000;
/** A runtime that is away for longer than this is not just restarting. */
const AWAY_MS_MAX = 60_000;

export class IngressClient {
  readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  send(target: Target, options: SendOptions): Promise<SendAnswer> {
    const { input, delay, idempotencyKey } = options;
    const path = [target.service, ...(target.key === undefined ? [] : [target.key]), target.handler]
      .map(encodeURIComponent)
      .join("/");
    return askJson(this.connection, `/${path}/send`, {
      method: "POST",
      query: { delay },
      ...(input === undefined ? {} : { body: input }),
      ...(idempotencyKey === undefined ? {} : { headers: { "idempotency-key": idempotencyKey } }),
    });
  }

  /** @throws RefusedError (P0035) where there is none yet. */
  output(run: RunId): Promise<Outcome> {
    return this.#outcome(`/perdure/runs/${run}/output`);
  }

  /** Waits for it, however long that takes. A connection that breaks is made again. */
  async attach(run: RunId, onLost: () => void = () => undefined): Promise<Outcome> {
    let delay = RETRY_MS_FIRST;
    let lostAt: number | undefined;
    for (;;) {
      const began = Date.now();
      try {
        return await this.#outcome(`/perdure/runs/${run}/attach`);
      } catch (error) {
        if (!isPassing(error)) throw error;
        const now = Date.now();
        if (now - began > RETRY_MS_MAX) lostAt = undefined; // It had been there for a while.
        if (lostAt === undefined) {
          delay = RETRY_MS_FIRST;
          onLost();
        }
        lostAt ??= now;
        if (now - lostAt > AWAY_MS_MAX) throw error;
      }
      await sleep(delay, undefined, { signal: this.connection.signal }).catch(() => {
        throw new InterruptedError();
      });
      delay = Math.min(delay * 2, RETRY_MS_MAX);
    }
  }

  async #outcome(path: string): Promise<Outcome> {
    const response = await open(this.connection, path);
    const status = response.statusCode ?? 0;
    if (status === 200 && response.headers["content-type"] === "application/octet-stream")
      return { kind: "bytes", bytes: await this.#bytes(response) };
    const text = await bodyOf(response, this.connection);
    if (status === 200) return { kind: "json", text };
    if (status === 204) return { kind: "void" };
    const error = refusal({ status, headers: response.headers, text }, this.connection.url + path);
    // Only a run that has ended answers under its own id; "not ready" does too.
    if (response.headers["x-perdure-run"] !== undefined && error.code !== "P0035") return { kind: "failure", error };
    throw error;
  }

  async #bytes(response: AsyncIterable<unknown>): Promise<Uint8Array> {
    const chunks: Uint8Array[] = [];
    try {
      for await (const chunk of response) chunks.push(chunk as Uint8Array);
    } catch (error) {
      throw connectionError(error as Error, this.connection);
    }
    return Buffer.concat(chunks);
  }
}

function isPassing(error: unknown): boolean {
  return error instanceof UnreachableError || (error instanceof RefusedError && error.code === "P0037");
}
