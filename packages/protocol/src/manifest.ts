// What a deployment offers: services, handlers, their schemas and policies. Data only, so that it can cross a wire.

import type { DurationMs } from "./time.ts";

export type ServiceKind = "service" | "object" | "workflow";

export interface RetryPolicy {
  /** Wait before the second try. */
  readonly initialMs: DurationMs;
  readonly factor: number;
  readonly maxMs: DurationMs;
  /** Tries in all; Infinity: for ever. */
  readonly maxAttempts: number;
  /** After the last try: the run waits for a person, or the failure is thrown into the handler (a run then fails). */
  readonly onExhausted: "pause" | "throw";
}

export interface HandlerManifest {
  readonly name: string;
  readonly mode: "exclusive" | "shared" | "workflow" | "service";
  readonly description?: string;
  /** JSON Schemas, where the handler's schemas can say them. */
  readonly inputSchema?: object;
  readonly outputSchema?: object;
  /** How long a finished run is kept. Absent: the host's default. */
  readonly retentionMs?: DurationMs;
  readonly retry?: RetryPolicy;
  /** The run that has the key's turn is told what queues behind it (`perdure.arrival`). */
  readonly listens?: boolean;
  /** Not reachable from outside, only from other handlers. */
  readonly internal?: boolean;
}

export interface ServiceManifest {
  readonly name: string;
  readonly kind: ServiceKind;
  readonly description?: string;
  /** An object made by agent(): its keys are sessions. */
  readonly agent?: true;
  /** How runs are remembered: `snapshot`, by images of the isolate that they run in. Absent: by their journal alone. */
  readonly memory?: "snapshot";
  readonly handlers: readonly HandlerManifest[];
}

/** Defaults of a step and of a handler: 500 ms, doubled up to a minute, for ever. An outage of a day must not end a run. */
export const DEFAULT_RETRY: RetryPolicy = {
  initialMs: 500,
  factor: 2,
  maxMs: 60_000,
  maxAttempts: Number.POSITIVE_INFINITY,
  onExhausted: "pause",
};
