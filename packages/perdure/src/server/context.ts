// What both listeners know: the runtime that they serve, and how the process around them wants things.

import type { Runtime } from "@perdure/host";
import type { Target, ValidationError } from "@perdure/protocol";

/** What the server asks of a runtime. */
export type ServedRuntime = Pick<
  Runtime,
  | "artifactCounts"
  | "attach"
  | "call"
  | "cancel"
  | "catalog"
  | "changes"
  | "completeAwakeable"
  | "deployments"
  | "draining"
  | "editState"
  | "figures"
  | "fork"
  | "healthy"
  | "inspectImage"
  | "isolates"
  | "kill"
  | "live"
  | "migrate"
  | "moments"
  | "nameMoment"
  | "output"
  | "pause"
  | "purge"
  | "reader"
  | "readStream"
  | "restart"
  | "resume"
  | "rewind"
  | "run"
  | "runIdFor"
  | "settleEffect"
  | "signal"
  | "startedAt"
  | "submit"
  | "watchStream"
>;

/**
 * Checks a handler's input against its schema, before a run is made of it. `value` is what the JSON says, bytes where the
 * body is not JSON, `undefined` where there is no body.
 */
export type ValidateInput = (
  target: Target,
  value: unknown,
) => ValidationError | null | Promise<ValidationError | null>;

export interface HttpOptions {
  /** Whoever asks has to send `Authorization: Bearer <token>`. */
  readonly token?: string;
  /** Names besides localhost, under which the server may be asked (a reverse proxy's, say). */
  readonly hosts?: readonly string[];
  /** Told of errors that nobody expected; the asker only learns that there was one. */
  readonly onError?: (error: unknown) => void;
  readonly validateInput?: ValidateInput;
}

export interface IngressOptions extends HttpOptions {
  /** Between two signs of life on a connection that follows a stream. */
  readonly heartbeatMs?: number;
  /** Request headers that runs are given, besides `traceparent`, `tracestate` and the `content-type` of bytes. */
  readonly passHeaders?: readonly string[];
  /** Where the admin surface listens, for the text at `/`. */
  readonly adminUrl?: () => string | undefined;
}

export interface AdminOptions extends HttpOptions {
  readonly version?: string;
  /** Between two signs of life on an idle event stream. */
  readonly heartbeatMs?: number;
  /** Changes that wait for a slow reader of the event stream before it is disconnected. */
  readonly sseQueueMax?: number;
  /** Where the cockpit's built files are. Default: in this package. */
  readonly cockpitFolder?: string;
  /** Counters of the other listeners, for the metrics. */
  readonly traffic?: readonly Traffic[];
}

/** What went through one listener. */
export interface Traffic {
  readonly listener: string;
  requests: number;
  /** By error code. */
  readonly errors: Map<string, number>;
}

export function newTraffic(listener: string): Traffic {
  return { listener, requests: 0, errors: new Map() };
}

/** Bodies above this are refused with 413. */
export const BODY_BYTES_MAX: number = 32 * 1024 * 1024;
