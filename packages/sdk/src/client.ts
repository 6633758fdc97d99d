// @perdure/sdk/client: handlers called from other processes.

export type {
  Client,
  ClientCallOptions,
  ClientCalls,
  ClientOptions,
  ClientRun,
  ClientSendOptions,
  ClientSends,
  SentRun,
  UntypedClientCalls,
} from "./client/client.ts";
export { createClient } from "./client/client.ts";
export type { AgentSession, Receipt, WaitOptions } from "./client/agent.ts";
export type { StreamEvent, StreamOptions } from "./client/stream.ts";
export type { EventsOptions, LiveEvent } from "./client/events.ts";
export type { FetchInit, FetchLike, FetchResponse, StreamReader } from "./client/http.ts";
export { RequestFailedError } from "./client/http.ts";
export type { RunOutput } from "./context/calls.ts";
