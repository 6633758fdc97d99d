// How an answer is given: at its pace, with its fault, and only as long as somebody listens.

import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { paceMs, type ScriptedFault, type ScriptedManner } from "@perdure/agents";

/** What is written, and what stands in for it when a fault says so. */
export interface Piecework {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Before the first piece, without waiting. */
  readonly begin: string;
  readonly pieces: Iterable<string>;
  readonly end: () => string;
  readonly fail: (error: "overloaded" | "server") => string;
}

/** @returns whether all of it was delivered, by its own end. */
export async function perform(response: ServerResponse, work: Piecework, manner: ScriptedManner): Promise<boolean> {
  const audience = new Audience(response);
  try {
    response.writeHead(work.status, work.headers);
    response.flushHeaders();
    if (work.begin !== "") response.write(work.begin);
    await audience.wait(manner.firstTokenMs ?? 0);
    if (!(await writePieces(response, audience, work.pieces, manner))) {
      await misbehave(response, audience, manner.fault, work);
      return false;
    }
    return await finish(response, work.end());
  } catch (error) {
    if (audience.isGone) return false;
    throw error;
  }
}

/** Waits as long as the pieces would have taken; for answers that are not streamed. */
export async function takeTime(response: ServerResponse, pieces: number, manner: ScriptedManner): Promise<boolean> {
  const audience = new Audience(response);
  const { fault } = manner;
  const told = fault === undefined ? pieces : Math.min(pieces, fault.afterTokens);
  try {
    await audience.wait((manner.firstTokenMs ?? 0) + Math.max(0, told - 1) * paceMs(manner));
    if (fault?.kind === "stall") await audience.forEver();
    if (fault?.kind === "cut") response.destroy();
    return !response.destroyed;
  } catch (error) {
    if (audience.isGone) return false;
    throw error;
  }
}

/** @returns whether the response reached the network in full. */
export function finish(response: ServerResponse, last: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  response.once("finish", () => resolve(true));
  response.once("close", () => resolve(false));
  response.end(last);
  return promise;
}

/** @returns false where a fault came first. */
async function writePieces(
  response: ServerResponse,
  audience: Audience,
  pieces: Iterable<string>,
  manner: ScriptedManner,
): Promise<boolean> {
  let told = 0;
  for (const piece of pieces) {
    if (manner.fault !== undefined && told >= manner.fault.afterTokens) return false;
    if (told > 0) await audience.wait(paceMs(manner));
    if (audience.isGone) return false;
    response.write(piece);
    told += 1;
  }
  return manner.fault === undefined;
}

async function misbehave(
  response: ServerResponse,
  audience: Audience,
  fault: ScriptedFault | undefined,
  work: Piecework,
): Promise<void> {
  switch (fault?.kind) {
    case undefined:
      return;
    case "cut":
      // What was written is on its way first: the client sees the pieces, then the cut.
      await audience.flushed();
      response.destroy();
      return;
    case "stall":
      return await audience.forEver();
    case "overloaded":
    case "server":
      await finish(response, work.fail(fault.kind));
  }
}

/** The client, who may leave at any time. */
class Audience {
  readonly #response: ServerResponse;
  readonly #left: AbortController = new AbortController();

  constructor(response: ServerResponse) {
    this.#response = response;
    if (response.closed) this.#left.abort();
    else response.once("close", () => this.#left.abort());
  }

  get isGone(): boolean {
    return this.#left.signal.aborted;
  }

  /** Rejects when the client leaves. */
  async wait(ms: number): Promise<void> {
    if (ms > 0) await sleep(ms, undefined, { signal: this.#left.signal });
  }

  forEver(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (this.isGone) resolve();
    else this.#left.signal.addEventListener("abort", () => resolve());
    return promise;
  }

  flushed(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#response.write("", () => resolve());
    this.#response.once("close", resolve);
    return promise;
  }
}
