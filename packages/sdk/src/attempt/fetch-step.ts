// `ctx.fetch`: what is sent, which answers are tried again, and the answer as code gets it, live as on replay.

import { BadRequestError } from "@perdure/protocol";
import type { FetchHeaders, FetchOptions, FetchResponse } from "../context/fetch.ts";
import type { StepInfo, StepOptions } from "../context/options.ts";
import { encode } from "../json.ts";
import type { FetchAnswer, FetchRequest, SdkPorts } from "../ports.ts";
import type { StepFunction } from "./step-task.ts";

const RETRIED: readonly number[] = [408, 429, 500, 502, 503, 504];
/** What may be repeated without a key, as HTTP has it. */
const SAFE: readonly string[] = ["GET", "HEAD", "OPTIONS", "TRACE"];
const SHOWN_CHARACTERS = 200;

export interface FetchStep {
  readonly name: string;
  readonly run: StepFunction;
  readonly options: StepOptions;
}

/** @throws BadRequestError, SerializationError */
export function fetchStep(ports: SdkPorts, url: string, options: FetchOptions): FetchStep {
  const { body, retry, timeout, atMostOnce, retryOn = RETRIED } = options;
  const method = (options.method ?? (body === undefined ? "GET" : "POST")).toUpperCase();
  const sent = typeof body === "string" || body === undefined ? (body ?? null) : (encode(body, "the body") ?? null);
  const isJson = body !== undefined && typeof body !== "string" && typeof sent === "string";
  const send = async (info: StepInfo): Promise<FetchAnswer> => {
    if (ports.fetch === undefined) throw new BadRequestError("this host makes no requests: ctx.fetch is not there");
    const headers = new Map(Object.entries(options.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
    if (isJson && !headers.has("content-type")) headers.set("content-type", "application/json");
    if (!SAFE.includes(method) && !headers.has("idempotency-key")) headers.set("idempotency-key", info.idempotencyKey);
    const request: FetchRequest = { url, method, headers: [...headers], body: sent };
    const answer = await ports.fetch(request, info);
    if (retryOn.includes(answer.status)) throw new FetchStatusError(method, url, answer);
    return answer;
  };
  return {
    name: options.name ?? `${method} ${placeOf(url)}`,
    run: send as StepFunction,
    options: {
      ...(retry === undefined ? {} : { retry }),
      ...(timeout === undefined ? {} : { timeout }),
      ...(atMostOnce === undefined ? {} : { atMostOnce }),
    },
  };
}

/** Names stand in the journal: what follows the path may be a secret, or another one each time. */
function placeOf(url: string): string {
  const match = /^https?:\/\/(?:[^/?#@]*@)?([^?#]*)/i.exec(url);
  if (match === null)
    throw new BadRequestError(`ctx.fetch needs an address that begins with http:// or https://, not "${url}"`);
  return match[1] ?? url;
}

class FetchStatusError extends Error {
  override readonly name = "FetchStatusError";
  /** Found by the step's retries: `Retry-After`. */
  readonly responseHeaders: Readonly<Record<string, string>>;

  constructor(method: string, url: string, answer: FetchAnswer) {
    const said =
      answer.body !== null && "text" in answer.body ? `: ${answer.body.text.slice(0, SHOWN_CHARACTERS)}` : "";
    super(`${method} ${placeOf(url)} was answered with ${answer.status} ${answer.statusText}${said}`);
    this.responseHeaders = Object.fromEntries(answer.headers);
  }
}

/** Both V8 and the guests of isolates have them; types of this package know no platform. */
declare const TextEncoder: new () => { encode(text: string): Uint8Array };
declare const TextDecoder: new () => { decode(bytes: Uint8Array): string };
declare const atob: (base64: string) => string;

export class JournaledResponse implements FetchResponse {
  readonly status: number;
  readonly statusText: string;
  readonly url: string;
  readonly headers: FetchHeaders;
  readonly #body: FetchAnswer["body"];

  constructor({ status, statusText, url, headers, body }: FetchAnswer) {
    this.status = status;
    this.statusText = statusText;
    this.url = url;
    this.headers = new JournaledHeaders(headers);
    this.#body = body;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  async text(): Promise<string> {
    const body = this.#body;
    if (body === null) return "";
    return "text" in body ? body.text : new TextDecoder().decode(bytesOf(body.base64));
  }

  async json<T>(): Promise<T> {
    return JSON.parse(await this.text()) as T;
  }

  async bytes(): Promise<Uint8Array> {
    const body = this.#body;
    if (body === null) return new Uint8Array();
    return "text" in body ? new TextEncoder().encode(body.text) : bytesOf(body.base64);
  }
}

class JournaledHeaders implements FetchHeaders {
  readonly #list: FetchAnswer["headers"];

  constructor(list: FetchAnswer["headers"]) {
    this.#list = list;
  }

  get(name: string): string | null {
    const wanted = name.toLowerCase();
    const values = this.#list.filter(([own]) => own.toLowerCase() === wanted).map(([, value]) => value);
    return values.length === 0 ? null : values.join(", ");
  }

  has(name: string): boolean {
    return this.get(name) !== null;
  }

  [Symbol.iterator](): Iterator<readonly [string, string]> {
    return this.#list[Symbol.iterator]();
  }
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
