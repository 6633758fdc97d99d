// Request: what is to be fetched. Most of its fields are for browsers; they are kept, and nothing is done with them.

import { AbortController, type AbortSignal } from "../abort.ts";
import { tag } from "../define.ts";
import { URL } from "../url/url.ts";
import { Body, type BodyInit } from "./body.ts";
import { Headers, type HeadersInit } from "./headers.ts";

export interface RequestInit {
  readonly method?: string;
  readonly headers?: HeadersInit;
  readonly body?: BodyInit | null;
  readonly signal?: AbortSignal | null;
  readonly redirect?: string;
  readonly cache?: string;
  readonly credentials?: string;
  readonly integrity?: string;
  readonly keepalive?: boolean;
  readonly mode?: string;
  readonly referrer?: string;
  readonly referrerPolicy?: string;
  readonly duplex?: string;
}

const UPPER = new Set(["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"]);
const FORBIDDEN = new Set(["CONNECT", "TRACE", "TRACK"]);
const METHOD = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

export class Request extends Body {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly signal: AbortSignal;
  readonly redirect: string;
  readonly cache: string;
  readonly credentials: string;
  readonly integrity: string;
  readonly keepalive: boolean;
  readonly mode: string;
  readonly referrer: string;
  readonly referrerPolicy: string;
  readonly duplex: string;

  constructor(input: Request | URL | string, init: RequestInit = {}) {
    super();
    const from = input instanceof Request ? input : undefined;
    this.url = input instanceof Request ? input.url : urlOf(input);
    this.method = methodOf(init.method ?? from?.method ?? "GET");
    this.headers = new Headers(init.headers ?? from?.headers ?? {});
    this.signal = init.signal ?? from?.signal ?? new AbortController().signal;
    this.redirect = init.redirect ?? from?.redirect ?? "follow";
    this.cache = init.cache ?? from?.cache ?? "default";
    this.credentials = init.credentials ?? from?.credentials ?? "same-origin";
    this.integrity = init.integrity ?? from?.integrity ?? "";
    this.keepalive = init.keepalive ?? from?.keepalive ?? false;
    this.mode = init.mode ?? from?.mode ?? "cors";
    this.referrer = init.referrer ?? from?.referrer ?? "about:client";
    this.referrerPolicy = init.referrerPolicy ?? from?.referrerPolicy ?? "";
    this.duplex = "half";
    const body = init.body ?? from?._take() ?? null;
    if (body !== null && (this.method === "GET" || this.method === "HEAD"))
      throw new TypeError("Request with GET/HEAD method cannot have body");
    this._setBody(body, this.headers);
  }

  clone(): Request {
    const body = this._share();
    return new Request(this.url, { ...this.#init(), body });
  }

  /** @internal The body goes over to another request. */
  _take(): BodyInit | null {
    return this._hasBody ? this.body : null;
  }

  #init(): RequestInit {
    const { method, headers, signal, redirect, cache, credentials, integrity, keepalive, mode, referrer } = this;
    return { method, headers, signal, redirect, cache, credentials, integrity, keepalive, mode, referrer };
  }
}

function urlOf(input: URL | string): string {
  const url = URL.parse(String(input));
  if (url === null) throw new TypeError(`Failed to parse URL from ${String(input)}`);
  if (url.username !== "" || url.password !== "")
    throw new TypeError("a request's URL has no user and password: give them as the header authorization");
  return url.href;
}

function methodOf(method: string): string {
  const text = String(method);
  const upper = text.toUpperCase();
  if (!METHOD.test(text) || FORBIDDEN.has(upper)) throw new TypeError(`"${text}" is no method that can be asked for`);
  return UPPER.has(upper) ? upper : text;
}

tag(Request, "Request");
