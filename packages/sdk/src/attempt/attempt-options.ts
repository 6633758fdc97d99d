// What attempts are given, and what they keep for later.

import type { AttemptReplies, RetryPolicy } from "@perdure/protocol";
import type { SdkPorts } from "../ports.ts";
import type { ReplayAttempt } from "./replay-attempt.ts";
import type { Turns } from "./turns.ts";

/** What all attempts of an executor share. */
export interface AttemptOptions {
  readonly ports: SdkPorts;
  readonly turns: Turns;
  readonly defaultRetry: RetryPolicy;
  /** How long a blocked attempt stays in memory. */
  readonly suspendAfterMs: number;
  /** How long code may go without asking for what is recorded. */
  readonly divergenceGraceMs: number;
  /** The attempt is over, and may be forgotten. */
  readonly ended: (attempt: ReplayAttempt) => void;
}

/** Asked for while the attempt replays: it goes out when everything recorded was met (A2). */
export type HeldCommand = Parameters<AttemptReplies["command"]>;
