// HTTP as the client needs it: `fetch` by structure, values as bodies, failures as errors
// =======================================================================================
// What Perdure itself says for good (a run that failed, an unknown target) is a `TerminalError` with its code. What may
// go away again (overload, shutdown, a proxy in between, no connection) is a `RequestFailedError`: thrown in a step it is
// retried, and its `Retry-After` is honoured.

import type { Failure, Headers } from "@perdure/protocol";
import { errorFromFailure, FencedError, OverloadedError, ShuttingDownError, StoreWriteError } from "@perdure/protocol";
import { decode, encode } from "../json.ts";
import type { AbortSignalLike } from "../ports.ts";

/** The part of `fetch` that is used; the global one of Node and of browsers fits. */
export type FetchLike = (url: string, init: FetchInit) => Promise<FetchResponse>;

export interface FetchInit {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly signal?: AbortSignalLike;
}

export interface FetchResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: { getReader(): StreamReader } | null;
  text(): Promise<string>;
  arrayBuffer(): Promise<ArrayBuffer>;
}

export interface StreamReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

/** The request did not get an answer that is final. Not terminal: a step that throws it is tried again. */
export class RequestFailedError extends Error {
  override readonly name = "RequestFailedError";
  /** HTTP status; 0 where there was no answer. */
  readonly status: number;
  /** Perdure's code, where the answer had one. */
  readonly code: string | undefined;
  /** Of the answer; `Retry-After` is looked for here. */
  readonly headers: FetchResponse["headers"] | undefined;

  constructor(
    message: string,
    details: {
      readonly status: number;
      readonly code?: string | undefined;
      readonly headers?: FetchResponse["headers"];
      readonly cause?: unknown;
    },
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.status = details.status;
    this.code = details.code;
    this.headers = details.headers;
  }
}

/** Codes of failures that pass. */
const PASSING: ReadonlySet<string> = new Set([
  OverloadedError.code,
  ShuttingDownError.code,
  StoreWriteError.code,
  FencedError.code,
]);

export interface HttpRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers?: Headers | undefined;
  readonly input?: unknown;
  readonly signal?: AbortSignalLike | undefined;
}

export class Http {
  readonly #fetch: FetchLike;
  readonly #headers: Headers;

  constructor(fetch: FetchLike, headers: Headers) {
    this.#fetch = fetch;
    this.#headers = headers;
  }

  /** The response, whatever its status. */
  async send(request: HttpRequest): Promise<FetchResponse> {
    const body = encode(request.input, "the input");
    const headers: Record<string, string> = { ...this.#headers, ...request.headers };
    if (body !== undefined)
      headers["content-type"] ??= typeof body === "string" ? "application/json" : "application/octet-stream";
    const { method, url, signal } = request;
    try {
      return await this.#fetch(url, {
        method,
        headers,
        ...(body === undefined ? {} : { body: body as string | Uint8Array<ArrayBuffer> }),
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (cause) {
      if (signal?.aborted === true) throw cause;
      throw new RequestFailedError(`no answer from ${url}: ${cause instanceof Error ? cause.message : String(cause)}`, {
        status: 0,
        cause,
      });
    }
  }

  /** The value of an answer. @throws what the answer says went wrong. */
  async value(request: HttpRequest): Promise<unknown> {
    const response = await this.send(request);
    if (!response.ok) throw await failed(response);
    return valueOf(response);
  }
}

export async function valueOf(response: FetchResponse): Promise<unknown> {
  const type = response.headers.get("content-type") ?? "";
  if (response.status === 204) return undefined;
  if (/\bjson\b/.test(type)) {
    const text = await response.text();
    return text === "" ? undefined : decode(text);
  }
  const bytes = new Uint8Array(await response.arrayBuffer());
  return bytes.byteLength === 0 ? undefined : bytes;
}

export async function failed(response: FetchResponse): Promise<Error> {
  const text = await response.text();
  const failure = readFailure(text, response.status);
  if (failure !== undefined && !PASSING.has(failure.errorCode ?? "")) return errorFromFailure(failure);
  const message =
    failure?.message ??
    `the answer has status ${response.status}${text === "" ? "" : `: ${text.slice(0, TEXT_LENGTH_MAX)}`}`;
  return new RequestFailedError(message, {
    status: response.status,
    code: failure?.errorCode,
    headers: response.headers,
  });
}

/** As much of somebody's error page as helps. */
const TEXT_LENGTH_MAX = 200;

/** `{ "error": { "code": "P0030", "message": "…", "status": 404, "path": "$", "metadata": {…} } }` */
function readFailure(text: string, status: number): Failure | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined; // A proxy's page.
  }
  const error = (
    parsed as { readonly error?: Partial<Record<"code" | "message" | "status" | "path" | "metadata", unknown>> } | null
  )?.error;
  if (
    typeof error !== "object" ||
    error === null ||
    typeof error.code !== "string" ||
    typeof error.message !== "string"
  )
    return undefined;
  const code = typeof error.status === "number" ? error.status : status;
  const failure = { code, message: error.message, errorCode: error.code };
  const metadata = {
    ...(isRecord(error.metadata) ? error.metadata : {}),
    ...(typeof error.path === "string" ? { path: error.path } : {}),
  };
  return Object.keys(metadata).length === 0 ? failure : { ...failure, metadata };
}

function isRecord(value: unknown): value is Readonly<Record<string, string>> {
  return typeof value === "object" && value !== null && Object.values(value).every((item) => typeof item === "string");
}
