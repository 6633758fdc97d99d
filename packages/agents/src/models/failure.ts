// No model answered: what the call rejects with
// =============================================
// One error for all of them. If any model may answer later, it is worth coming back, at the soonest time that one of them
// named. Else it is final, and says what a caller can do something about: a conversation that is too long can be shortened,
// which is why that goes before a wrong key.

import { assert, ContextLengthError, ModelAccessError, ModelRequestError, type TerminalError } from "@perdure/protocol";
import { ModelError, type ModelErrorKind } from "./model-error.ts";

export interface FailedModel {
  readonly error: ModelError;
  /** When it failed: its `retryAfter` counts from then. */
  readonly at: number;
}

export function conclude(failed: readonly FailedModel[], now: number): ModelError | TerminalError {
  const retryable = failed.filter(({ error }) => error.retryable);
  const first = retryable[0];
  return first === undefined ? terminal(failed.map(({ error }) => error)) : unavailable(failed, first, retryable, now);
}

function unavailable(
  failed: readonly FailedModel[],
  first: FailedModel,
  retryable: readonly FailedModel[],
  now: number,
): ModelError {
  const waits = retryable.map(({ error, at }) => error.retryAfter && Math.max(0, at + error.retryAfter - now));
  // A model that named no time may answer at once: then the step's own backoff decides.
  const retryAfterMs = waits.some((wait) => wait === undefined)
    ? undefined
    : Math.min(...waits.map((wait) => wait ?? 0));
  const { kind, provider, modelId, statusCode, providerCode } = first.error;
  if (failed.length === 1 && retryAfterMs === first.error.retryAfter) return first.error;
  const details = { kind, provider, modelId, retryAfterMs, statusCode, providerCode, cause: first.error };
  return new ModelError(summary(failed.map(({ error }) => error)), details);
}

/** What can be done about it, the easiest first. */
const TERMINAL_ORDER: readonly ModelErrorKind[] = ["context-length", "unauthorized", "bad-request"];

function terminal(errors: readonly ModelError[]): TerminalError {
  const sorted = TERMINAL_ORDER.flatMap((kind) => errors.filter((error) => error.kind === kind));
  const error = sorted[0];
  assert(error !== undefined, "a call fails for a reason");
  const { provider, modelId, kind } = error;
  const options = { cause: error, metadata: { provider, model: modelId, kind } };
  const message = summary(errors);
  switch (kind) {
    case "context-length":
      return new ContextLengthError(
        `${message}. The request is longer than the model takes: compact the conversation, or name a larger model`,
        { ...options, status: 413 },
      );
    case "unauthorized":
      return new ModelAccessError(
        `${message}. The provider does not let this account in: check its key, its permissions and its credit`,
        { ...options, status: 502 },
      );
    default:
      return new ModelRequestError(
        `${message}. The provider refuses the request as it is: correct what it names, a repetition would not help`,
        { ...options, status: 502 },
      );
  }
}

function summary(errors: readonly ModelError[]): string {
  if (errors.length === 1) return errors[0]?.message ?? "";
  return `none of ${errors.length} models answered. ${errors.map(({ message }) => message).join("; ")}`;
}
