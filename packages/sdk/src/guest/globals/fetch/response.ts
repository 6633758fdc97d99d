// Response: what was answered, or is to be.

import { tag } from "../define.ts";
import { URL } from "../url/url.ts";
import { Body, type BodyInit } from "./body.ts";
import { Headers, type HeadersInit } from "./headers.ts";

export interface ResponseInit {
  readonly status?: number;
  readonly statusText?: string;
  readonly headers?: HeadersInit;
}

const WITHOUT_BODY = new Set([101, 103, 204, 205, 304]);
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export class Response extends Body {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  #url = "";
  #type = "default";
  #isRedirected = false;

  constructor(body: BodyInit | null = null, init: ResponseInit = {}) {
    super();
    this.status = Number(init?.status ?? 200);
    if (!Number.isInteger(this.status) || this.status < 200 || this.status > 599)
      throw new RangeError(`init["status"] must be in the range of 200 to 599, inclusive.`);
    this.statusText = String(init?.statusText ?? "");
    this.headers = new Headers(init?.headers ?? {});
    if (body !== null && body !== undefined && WITHOUT_BODY.has(this.status))
      throw new TypeError(`Response constructor: Invalid response status code ${this.status}: it has no body`);
    this._setBody(body, this.headers);
  }

  static json(data: unknown, init: ResponseInit = {}): Response {
    const text = JSON.stringify(data);
    if (text === undefined) throw new TypeError("Value is not JSON serializable");
    const headers = new Headers(init.headers ?? {});
    if (!headers.has("content-type")) headers.set("content-type", "application/json");
    return new Response(text, { ...init, headers });
  }

  static redirect(url: string | URL, status = 302): Response {
    if (!REDIRECTS.has(status)) throw new RangeError(`Invalid status code ${status}`);
    return new Response(null, { status, headers: { location: new URL(url).href } });
  }

  static error(): Response {
    const response = new Response(null);
    response.#type = "error";
    return Object.defineProperty(response, "status", { value: 0 });
  }

  /** @internal What a server answered. */
  static _fetched(body: BodyInit | null, init: ResponseInit, url: string, asked: string): Response {
    const hasBody = !WITHOUT_BODY.has(init.status ?? 200);
    const response = new Response(hasBody ? body : null, init);
    response.#url = url;
    response.#type = "basic";
    response.#isRedirected = withoutFragment(url) !== withoutFragment(asked);
    return response;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status <= 299;
  }
  get url(): string {
    return withoutFragment(this.#url);
  }
  get type(): string {
    return this.#type;
  }
  get redirected(): boolean {
    return this.#isRedirected;
  }

  clone(): Response {
    const { status, statusText, headers } = this;
    const copy = new Response(this._share(), { status, statusText, headers });
    copy.#url = this.#url;
    copy.#type = this.#type;
    copy.#isRedirected = this.#isRedirected;
    return copy;
  }
}

const withoutFragment = (url: string): string => url.split("#", 1)[0] ?? "";

tag(Response, "Response");
