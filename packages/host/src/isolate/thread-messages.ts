// What the executor and a thread of isolates say to each other. Attempts are numbers, unique in the process.

import type { Awaiting, CapturedImage, Entry, Failure, Result } from "@perdure/protocol";
import type { StateMigration } from "@perdure/sdk";
import type { CallOutcome, CallWord, GuestMessage, WireStart } from "@perdure/sdk/wire";
import type { BaseImage } from "./image-codec.ts";
import type { InstanceLimits } from "./instance.ts";

export interface ImagePolicy {
  /** How long an instance that waits is kept before it is imaged and let go. */
  readonly warmMs: number;
  /** A run that goes on without waiting long is imaged after that many entries. */
  readonly everyEntries: number;
  /** It is imaged after a call of a host function that took longer: to do it again would cost as much. */
  readonly afterCallMs: number;
  /** Instances that wait, per thread. One more, and the one that has waited longest is let go. */
  readonly warmMax: number;
  /** An instance that is let go is imaged where its journal has that many entries more than the image it was started from … */
  readonly tailEntries: number;
  /** … or where its code has run for that long since: a replay would do both again, and costs less than an image below. */
  readonly tailRunMs: number;
}

export interface ThreadOptions {
  readonly limits: InstanceLimits;
  readonly policy: ImagePolicy;
}

export type ToThread =
  /** All attempts that start from it come after. */
  | { readonly type: "base"; readonly base: BaseImage }
  | { readonly type: "makeBase"; readonly request: number; readonly code: string; readonly hash: string }
  | {
      readonly type: "migrateState";
      readonly request: number;
      readonly base: string;
      readonly migration: StateMigration;
    }
  | {
      readonly type: "start";
      readonly attempt: number;
      readonly base: string;
      readonly start: WireStart;
      readonly image: { readonly entry: number; readonly bytes: Uint8Array } | null;
    }
  | { readonly type: "notify"; readonly attempt: number; readonly entries: readonly Entry[] }
  | { readonly type: "callSaid"; readonly attempt: number; readonly call: number; readonly said: CallWord }
  | { readonly type: "callEnded"; readonly attempt: number; readonly call: number; readonly outcome: CallOutcome }
  | { readonly type: "yield"; readonly attempt: number }
  /** Let so many go that wait, or come to wait. What was asked for before is not asked for any more. */
  | { readonly type: "makeRoom"; readonly count: number }
  | { readonly type: "abort"; readonly attempt: number };

export type FromThread =
  | { readonly type: "madeBase"; readonly request: number; readonly base: BaseImage; readonly bytes: Uint8Array }
  | {
      readonly type: "baseFailed";
      readonly request: number;
      readonly message: string;
      readonly stack: string | undefined;
    }
  | { readonly type: "stateMigrated"; readonly request: number; readonly state: Result }
  | { readonly type: "stateRefused"; readonly request: number; readonly failure: Failure }
  /** In the order in which they were said. `timers` never leave the thread. */
  | {
      readonly type: "said";
      readonly attempt: number;
      readonly messages: readonly GuestMessage[];
      readonly awaiting: readonly Awaiting[] | null;
    }
  | {
      readonly type: "image";
      readonly attempt: number;
      readonly image: CapturedImage;
      readonly figures: CaptureFigures;
    }
  | { readonly type: "restored"; readonly attempt: number; readonly tookMs: number }
  /** Nothing of it has run: the image cannot be used. */
  | { readonly type: "imageUnusable"; readonly attempt: number; readonly failure: Failure }
  | {
      readonly type: "failed";
      readonly attempt: number;
      readonly failure: Failure;
      readonly behavior: "retry" | "pause";
    }
  | { readonly type: "released"; readonly attempt: number };

interface CaptureFigures {
  readonly tookMs: number;
  readonly bytes: number;
}
