// What is asked of the gateway, and what it answers. Answers are plain JSON: they are journaled.

import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
  SharedV4Warning,
} from "@ai-sdk/provider";
import type { Lane } from "./fair-queue.ts";
import type { ModelError, ModelErrorKind } from "./model-error.ts";
import type { Cost } from "./prices.ts";

/** Its whole environment. The SDK's ports are one. */
export interface GatewayPorts {
  now(): number;
  /** In [0, 1): jitter. */
  random(): number;
  /** Calls back once, not before `ms` have passed; the function that it returns cancels. */
  delay(ms: number, callback: () => void): () => void;
}

export interface ModelTimeouts {
  /** From sending to the first part of the answer. */
  readonly firstTokenMs?: number;
  /** Silence in the middle of an answer. */
  readonly betweenTokensMs?: number;
  /** One try, from sending to the answer's end. */
  readonly totalMs?: number;
}

export interface ModelRequest {
  /** The first is asked; the others are what to fall back on, in order. */
  readonly models: readonly LanguageModelV4[];
  readonly options: Omit<LanguageModelV4CallOptions, "abortSignal">;
  /** Whose call it is: keys take turns. */
  readonly key: string;
  readonly lane: Lane;
  /** Sent with every try, as the header `Idempotency-Key`. */
  readonly idempotencyKey: string;
  /** Ends the call at once: it rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Ends the generation at once: it resolves with what came so far, marked `partial`. */
  readonly interrupt?: AbortSignal;
  /** For limits on tokens; else estimated from the prompt. */
  readonly estimatedTokens?: number;
  readonly timeouts?: ModelTimeouts;
  /** Every part, as it comes. */
  readonly onPart?: (part: LanguageModelV4StreamPart, attempt: ModelAttempt) => void;
  readonly onAttemptEnd?: (attempt: ModelAttempt, outcome: AttemptOutcome) => void;
}

/** One request to one model. */
export interface ModelAttempt {
  /** From 1, through all the models of the call. */
  readonly number: number;
  readonly provider: string;
  readonly modelId: string;
}

export type AttemptOutcome =
  | { readonly kind: "settled" | "interrupted" }
  | { readonly kind: "failed"; readonly error: ModelError; readonly partialText: string };

export interface AttemptRecord extends ModelAttempt {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** How long it waited for its turn. */
  readonly queuedMs: number;
  readonly durationMs: number;
  /** Absent where nothing came. */
  readonly firstTokenMs?: number;
  readonly outcome: "settled" | "interrupted" | ModelErrorKind;
  /** Why it failed. */
  readonly message?: string;
}

export interface ModelAnswer {
  readonly content: LanguageModelV4Content[];
  readonly finishReason: LanguageModelV4FinishReason;
  readonly usage: LanguageModelV4Usage;
  readonly cost: Cost;
  readonly provider: string;
  readonly modelId: string;
  readonly responseId?: string;
  readonly providerMetadata?: SharedV4ProviderMetadata;
  readonly warnings: SharedV4Warning[];
  /** It was interrupted: there may be more to say. */
  readonly partial: boolean;
  readonly attempts: readonly AttemptRecord[];
}
