// Asking the admin API. Every failure is an ApiFailure with the server's code and words, or a NetworkFailure where there was
// no answer at all.

import type { ApiError, ErrorBody } from "@perdure/protocol";
import type { Session } from "./session.ts";

export class ApiFailure extends Error {
  override readonly name = "ApiFailure";
  readonly error: ApiError;

  constructor(error: ApiError) {
    super(error.message);
    this.error = error;
  }

  get code(): string {
    return this.error.code;
  }

  get status(): number {
    return this.error.status;
  }
}

/** The server did not answer: it is down, or starting again. */
export class NetworkFailure extends Error {
  override readonly name = "NetworkFailure";
}

type QueryValue = string | number | boolean | readonly string[] | undefined;
export type Query = Readonly<Record<string, QueryValue>>;

export interface AskOptions {
  readonly query?: Query;
  readonly body?: unknown;
  /** A body that is JSON text already, and is sent as it stands; empty: none. */
  readonly text?: string;
  readonly signal?: AbortSignal;
}

export class ApiClient {
  readonly session: Session;
  readonly #fetch: typeof fetch;

  constructor(session: Session, fetcher: typeof fetch = (input, init) => fetch(input, init)) {
    this.session = session;
    this.#fetch = fetcher;
  }

  get<T>(path: string, options: Omit<AskOptions, "body"> = {}): Promise<T> {
    return this.#json<T>("GET", path, options);
  }

  post<T>(path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<T> {
    return this.#json<T>("POST", path, { body }, headers);
  }

  patch<T>(path: string, body: unknown): Promise<T> {
    return this.#json<T>("PATCH", path, { body });
  }

  async text(path: string, options: Omit<AskOptions, "body"> = {}): Promise<string> {
    return (await this.open("GET", path, options)).text();
  }

  async #json<T>(
    method: string,
    path: string,
    options: AskOptions,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<T> {
    const response = await this.open(method, path, options, headers);
    return (await response.json()) as T;
  }

  /** The answer with its body unread: for what is a stream. @throws ApiFailure, NetworkFailure */
  async open(
    method: string,
    path: string,
    { query, body, text = body === undefined ? "" : JSON.stringify(body), signal }: AskOptions,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    const init: RequestInit = {
      method,
      headers: {
        ...this.session.headers,
        ...(text === "" ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      ...(text === "" ? {} : { body: text }),
      ...(signal === undefined ? {} : { signal }),
    };
    const response = await this.#fetch(`${path}${queryText(query)}`, init).catch((cause: unknown) => {
      if (signal?.aborted === true) throw cause;
      throw new NetworkFailure("the server does not answer", { cause });
    });
    if (response.ok) {
      this.session.accepted();
      return response;
    }
    if (response.status === 401) this.session.refused();
    throw await failureOf(response);
  }
}

/** Path segments that are data: keys may hold slashes, and anything else. */
export function path(parts: TemplateStringsArray, ...values: readonly (string | number)[]): string {
  return parts.map((part, at) => part + (at < values.length ? encodeURIComponent(String(values[at])) : "")).join("");
}

function queryText(query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === "" || (Array.isArray(value) && value.length === 0)) continue;
    search.set(name, Array.isArray(value) ? value.join(",") : String(value));
  }
  const text = search.toString();
  return text === "" ? "" : `?${text}`;
}

async function failureOf(response: Response): Promise<Error> {
  try {
    return new ApiFailure(((await response.json()) as ErrorBody).error);
  } catch {
    // Something in between answered: a proxy that knows nothing of our errors.
    return new NetworkFailure(`the server answered ${response.status} ${response.statusText}`.trim());
  }
}
