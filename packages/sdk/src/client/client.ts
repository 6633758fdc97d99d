// The client: handlers called from other processes, typed from the same definitions
// =================================================================================
// It speaks the ingress' HTTP (and the admin's, for events), and needs a `fetch`. For use inside a step or anywhere
// outside of handlers; inside a handler `ctx.call` is journaled and this is not.

import type { DurationLike, DurationMs, Headers, RunId, StreamRef, Target } from "@perdure/protocol";
import {
  BadRequestError,
  formatDuration,
  NotReadyError,
  parseAwakeableId,
  parseDuration,
  parseRunId,
} from "@perdure/protocol";
import type { RunOutput } from "../context/calls.ts";
import type { HandlerArguments, HandlerOutput } from "../definitions/handler.ts";
import type { AnyDefinition, KeyedDefinition, ServiceDefinition } from "../definitions/service.ts";
import type { TargetSink } from "../definitions/target-calls.ts";
import { targetCalls } from "../definitions/target-calls.ts";
import type { AbortSignalLike } from "../ports.ts";
import type { AgentSession } from "./agent.ts";
import { HttpAgentSession } from "./agent.ts";
import type { EventsOptions, LiveEvent } from "./events.ts";
import { liveEvents } from "./events.ts";
import type { FetchLike } from "./http.ts";
import { failed, Http, valueOf } from "./http.ts";
import type { StreamEvent, StreamOptions } from "./stream.ts";
import { followStream, streamUrl } from "./stream.ts";

export interface ClientOptions {
  /** The ingress: `http://127.0.0.1:8080`. */
  readonly url: string;
  /** The admin, for events: `http://127.0.0.1:9070`. */
  readonly adminUrl?: string;
  readonly fetch: FetchLike;
  /** Sent with every request, for credentials. */
  readonly headers?: Headers;
  /** How to wait before a broken stream of events is connected again. Without it the stream ends where it breaks. */
  readonly delay?: (ms: DurationMs) => Promise<void>;
}

export interface ClientCallOptions {
  /** The same key names the same run, whoever asks: asking again is safe. */
  readonly idempotencyKey?: string;
  readonly headers?: Headers;
  /** Stops waiting; the run goes on. */
  readonly signal?: AbortSignalLike;
}

export interface ClientSendOptions extends ClientCallOptions {
  readonly delay?: DurationLike;
}

export type ClientCalls<H> = {
  readonly [K in keyof H]: (...input: HandlerArguments<H[K]>) => Promise<HandlerOutput<H[K]>>;
};
export type ClientSends<H> = {
  readonly [K in keyof H]: (...input: HandlerArguments<H[K]>) => Promise<SentRun<HandlerOutput<H[K]>>>;
};
/** Handlers of a target that is known by its name only. */
// oxlint-disable-next-line typescript/no-explicit-any
export type UntypedClientCalls = any;

export interface ClientRun<T = unknown> {
  readonly id: RunId;
  /** Waits for the end. Its failure is thrown. */
  result(options?: { readonly signal?: AbortSignalLike }): Promise<T>;
  /** The output if it is there already. */
  output(): Promise<RunOutput<T>>;
  signal(name: string, value?: unknown): Promise<void>;
  cancel(): Promise<void>;
}

export interface SentRun<T = unknown> extends ClientRun<T> {
  /** `previouslyAccepted`: the idempotency key, or the workflow's key, names a run that was there already. */
  readonly status: "accepted" | "previouslyAccepted";
}

export interface Client {
  call<H>(target: ServiceDefinition<H>, options?: ClientCallOptions): ClientCalls<H>;
  call<H>(target: KeyedDefinition<H>, key: string, options?: ClientCallOptions): ClientCalls<H>;
  call(target: string, options?: ClientCallOptions): UntypedClientCalls;
  call(target: string, key: string, options?: ClientCallOptions): UntypedClientCalls;
  send<H>(target: ServiceDefinition<H>, options?: ClientSendOptions): ClientSends<H>;
  send<H>(target: KeyedDefinition<H>, key: string, options?: ClientSendOptions): ClientSends<H>;
  send(target: string, options?: ClientSendOptions): UntypedClientCalls;
  send(target: string, key: string, options?: ClientSendOptions): UntypedClientCalls;
  run<T = unknown>(id: string): ClientRun<T>;
  resolve(awakeable: string, value?: unknown): Promise<void>;
  reject(awakeable: string, reason: string): Promise<void>;
  /** A session of an agent, typed by its definition: `client.agent<typeof researcher>("researcher", "s1")`. */
  agent<D = unknown>(name: string, session: string): AgentSession<D>;
  /** A stream of a key or a run, live. */
  stream<T = unknown>(stream: StreamRef, options?: StreamOptions): AsyncGenerator<StreamEvent<T>, void, undefined>;
  /** Everything that changes, live. */
  events(options?: EventsOptions): AsyncGenerator<LiveEvent, void, undefined>;
}

export function createClient(options: ClientOptions): Client {
  return new HttpClient(options);
}

class HttpClient implements Client, TargetSink<ClientSendOptions> {
  readonly #http: Http;
  readonly #url: string;
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#url = withoutSlash(options.url);
    this.#http = new Http(options.fetch, options.headers ?? {});
  }

  call(
    target: AnyDefinition | string,
    keyOrOptions?: string | ClientCallOptions,
    options?: ClientCallOptions,
  ): UntypedClientCalls {
    return targetCalls<ClientSendOptions>(this, "call", target, keyOrOptions, options);
  }

  send(
    target: AnyDefinition | string,
    keyOrOptions?: string | ClientSendOptions,
    options?: ClientSendOptions,
  ): UntypedClientCalls {
    return targetCalls<ClientSendOptions>(this, "send", target, keyOrOptions, options);
  }

  async invoke(
    kind: "call" | "send",
    target: Target,
    input: unknown,
    options: ClientSendOptions = {},
  ): Promise<unknown> {
    const { idempotencyKey, signal } = options;
    const headers = {
      ...options.headers,
      ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
    };
    const request = { method: "POST", url: this.#target(target), headers, input, signal } as const;
    if (kind === "call") return this.#http.value(request);
    const delay = options.delay === undefined ? "" : `?delay=${formatDuration(parseDuration(options.delay))}`;
    const accepted = (await this.#http.value({ ...request, url: `${request.url}/send${delay}` })) as {
      readonly runId: string;
      readonly status: SentRun["status"];
    };
    return new HttpRun(this.#http, this.#url, checkRunId(accepted.runId), accepted.status);
  }

  #target(target: Target): string {
    const segments =
      target.key === undefined ? [target.service, target.handler] : [target.service, target.key, target.handler];
    return `${this.#url}/${segments.map(encodeURIComponent).join("/")}`;
  }

  run<T = unknown>(id: string): ClientRun<T> {
    return new HttpRun<T>(this.#http, this.#url, checkRunId(id), "previouslyAccepted");
  }

  resolve(awakeable: string, value?: unknown): Promise<void> {
    return this.#settle(awakeable, "resolve", value);
  }

  reject(awakeable: string, reason: string): Promise<void> {
    return this.#settle(awakeable, "reject", { message: reason });
  }

  async #settle(awakeable: string, how: "resolve" | "reject", input: unknown): Promise<void> {
    if (parseAwakeableId(awakeable) === undefined)
      throw new BadRequestError(`"${awakeable}" is not the id of an awakeable`);
    await this.#http.value({ method: "POST", url: `${this.#url}/perdure/awakeables/${awakeable}/${how}`, input });
  }

  agent<D = unknown>(name: string, session: string): AgentSession<D> {
    return new HttpAgentSession<D>({
      http: this.#http,
      url: this.#url,
      name,
      session,
      calls: this.call(name, session),
      sends: (options) => this.send(name, session, options),
      delay: this.#options.delay,
    });
  }

  stream<T = unknown>(stream: StreamRef, options: StreamOptions = {}): AsyncGenerator<StreamEvent<T>, void, undefined> {
    return followStream<T>(this.#http, this.#url + streamUrl(stream), options, this.#options.delay);
  }

  events(options: EventsOptions = {}): AsyncGenerator<LiveEvent, void, undefined> {
    const { adminUrl, delay } = this.#options;
    if (adminUrl === undefined) throw new BadRequestError("events come from the admin: give the client an `adminUrl`");
    return liveEvents(this.#http, `${withoutSlash(adminUrl)}/events`, options, delay);
  }
}

class HttpRun<T> implements SentRun<T> {
  readonly #http: Http;
  readonly #url: string;
  readonly id: RunId;
  readonly status: SentRun["status"];

  constructor(http: Http, url: string, id: RunId, status: SentRun["status"]) {
    this.#http = http;
    this.#url = `${url}/perdure/runs/${id}`;
    this.id = id;
    this.status = status;
  }

  result(options: { readonly signal?: AbortSignalLike } = {}): Promise<T> {
    return this.#http.value({ method: "GET", url: `${this.#url}/attach`, ...options }) as Promise<T>;
  }

  async output(): Promise<RunOutput<T>> {
    const response = await this.#http.send({ method: "GET", url: `${this.#url}/output` });
    if (response.status === NotReadyError.status) return { ready: false };
    if (!response.ok) throw await failed(response);
    return { ready: true, value: (await valueOf(response)) as T };
  }

  async signal(name: string, value?: unknown): Promise<void> {
    await this.#http.value({ method: "POST", url: `${this.#url}/signals/${encodeURIComponent(name)}`, input: value });
  }

  async cancel(): Promise<void> {
    await this.#http.value({ method: "POST", url: `${this.#url}/cancel` });
  }
}

function checkRunId(id: string): RunId {
  const run = parseRunId(id);
  if (run === undefined) throw new BadRequestError(`"${id}" is not the id of a run`);
  return run;
}

function withoutSlash(url: string): string {
  return url.endsWith("/") ? url.slice(0, -1) : url;
}
