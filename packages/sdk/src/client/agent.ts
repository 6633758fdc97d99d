// An agent's session from outside: client.agent<typeof researcher>("researcher", "s1")
// ==================================================================================
// Its types come from the definition, of which nothing is imported at run time. A message is a run: what was accepted is
// stored, goes on whoever waits for it, and sending it again under its key is the same message.

import { ConflictError, type MessageReceipt, type RunId } from "@perdure/protocol";
import type { HandlerArguments, HandlerOutput } from "../definitions/handler.ts";
import type { ObjectDefinition } from "../definitions/service.ts";
import type { AbortSignalLike } from "../ports.ts";
import type { ClientSendOptions, SentRun, UntypedClientCalls } from "./client.ts";
import type { Delay } from "./events.ts";
import type { Http } from "./http.ts";
import { followStream, streamUrl, type StreamEvent, type StreamOptions } from "./stream.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- a definition that is known by its name only
type Handlers<D> = D extends ObjectDefinition<infer H> ? H : any;
type Handler<D, Name extends string> = Name extends keyof Handlers<D> ? Handlers<D>[Name] : unknown;
type Output<D, Name extends string> = HandlerOutput<Handler<D, Name>>;
type Input<D, Name extends string> = HandlerArguments<Handler<D, Name>>;
type EventOf<D> = D extends { readonly event?: infer E } ? Exclude<E, undefined> : unknown;

export interface WaitOptions {
  /** Stops waiting; the message stays. */
  readonly signal?: AbortSignalLike;
}

/** A message that is stored. */
export interface Receipt<Answer = unknown> {
  /** The message's run. */
  readonly id: RunId;
  readonly accepted: SentRun["status"];
  /** Fulfilled when the transcript has it: with its offset there. @throws ConflictError where it ended before. */
  seen(options?: WaitOptions): Promise<{ readonly offset: number }>;
  /** The answer. Its failure is thrown. */
  answered(options?: WaitOptions): Promise<Answer>;
  /** Withdraws it where it was not seen; else ends the turn that works on it. */
  cancel(): Promise<void>;
}

export interface AgentSession<D = unknown> {
  send(message: Input<D, "send">[0], options?: ClientSendOptions): Promise<Receipt<Output<D, "send">>>;
  /** Ends the turn that works, keeping what it has said. */
  stop(): Promise<Output<D, "stop">>;
  status(): Promise<Output<D, "status">>;
  history(...range: Input<D, "history">): Promise<Output<D, "history">>;
  /** What it does, live: tokens, tools, approvals. */
  events(options?: StreamOptions): AsyncGenerator<StreamEvent<EventOf<D>>, void, undefined>;
}

export interface AgentSessionOptions {
  readonly http: Http;
  /** Of the ingress. */
  readonly url: string;
  readonly name: string;
  readonly session: string;
  readonly calls: UntypedClientCalls;
  readonly sends: (options: ClientSendOptions) => UntypedClientCalls;
  readonly delay: Delay | undefined;
}

export class HttpAgentSession<D> implements AgentSession<D> {
  readonly #options: AgentSessionOptions;

  constructor(options: AgentSessionOptions) {
    this.#options = options;
  }

  async send(message: Input<D, "send">[0], options: ClientSendOptions = {}): Promise<Receipt<Output<D, "send">>> {
    const run = (await this.#options.sends(options).send(message)) as SentRun<Output<D, "send">>;
    return {
      id: run.id,
      accepted: run.status,
      seen: (waiting) => this.#seen(run.id, waiting),
      answered: (waiting) => run.result(waiting),
      cancel: () => run.cancel(),
    };
  }

  stop(): Promise<Output<D, "stop">> {
    return this.#options.calls.stop() as Promise<Output<D, "stop">>;
  }

  status(): Promise<Output<D, "status">> {
    return this.#options.calls.status() as Promise<Output<D, "status">>;
  }

  history(...range: Input<D, "history">): Promise<Output<D, "history">> {
    return this.#options.calls.history(range[0]) as Promise<Output<D, "history">>;
  }

  events(options: StreamOptions = {}): AsyncGenerator<StreamEvent<EventOf<D>>, void, undefined> {
    const { http, url, name, session, delay } = this.#options;
    const events = streamUrl({ owner: { service: name, key: session }, name: "events" });
    return followStream<EventOf<D>>(http, url + events, options, delay);
  }

  /** The server waits, for a while at a time. */
  async #seen(id: RunId, { signal }: WaitOptions = {}): Promise<{ readonly offset: number }> {
    const { http, url, name, session } = this.#options;
    const path = `/perdure/agents/${encodeURIComponent(name)}/${encodeURIComponent(session)}/messages/${id}?wait=seen`;
    for (;;) {
      const receipt = (await http.value({ method: "GET", url: url + path, signal })) as MessageReceipt;
      if (receipt.offset !== undefined) return { offset: receipt.offset };
      if (receipt.answered)
        throw new ConflictError(`message ${id} has ended (${receipt.status}) without having been seen`);
    }
  }
}
