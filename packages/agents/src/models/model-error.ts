// Why a model did not answer. What the gateway does about it is decided by `kind` alone.

import { ModelUnavailableError, type RetryClass } from "@perdure/protocol";

export type ModelErrorKind =
  | "rate-limited"
  | "overloaded"
  | "server"
  | "network"
  /** The answer broke off. */
  | "cut-stream"
  | "timeout-first-token"
  | "timeout-between-tokens"
  | "timeout-total"
  | "context-length"
  /** By a content filter or a policy, before there was an answer. */
  | "refused"
  /** Key, permission or quota. */
  | "unauthorized"
  | "bad-request"
  | "unknown";

export interface ModelErrorDetails {
  readonly kind: ModelErrorKind;
  readonly provider: string;
  readonly modelId: string;
  /** The provider asks not to come back sooner. */
  readonly retryAfterMs?: number | undefined;
  readonly statusCode?: number | undefined;
  /** What the provider calls it. */
  readonly providerCode?: string | undefined;
  readonly cause?: unknown;
}

/** Would the same request, sent again to the same model, have a chance? */
function isRetryable(kind: ModelErrorKind): boolean {
  switch (kind) {
    case "rate-limited":
    case "overloaded":
    case "server":
    case "network":
    case "cut-stream":
    case "timeout-first-token":
    case "timeout-between-tokens":
    case "timeout-total":
    case "unknown":
      return true;
    case "context-length":
    case "refused":
    case "unauthorized":
    case "bad-request":
      return false;
  }
}

/** Does it say that the provider is ill? A limit, a wrong key or a long prompt do not. */
export function isIllness(kind: ModelErrorKind): boolean {
  switch (kind) {
    case "overloaded":
    case "server":
    case "network":
    case "cut-stream":
    case "timeout-first-token":
    case "timeout-between-tokens":
    case "timeout-total":
      return true;
    case "rate-limited":
    case "context-length":
    case "refused":
    case "unauthorized":
    case "bad-request":
    case "unknown":
      return false;
  }
}

export class ModelError extends ModelUnavailableError {
  override readonly name: string = "ModelError";
  readonly kind: ModelErrorKind;
  readonly provider: string;
  readonly modelId: string;
  /** Milliseconds; where steps look for it. */
  readonly retryAfter: number | undefined;
  readonly statusCode: number | undefined;
  readonly providerCode: string | undefined;

  constructor(message: string, details: ModelErrorDetails) {
    const { kind, provider, modelId } = details;
    super(message, { cause: details.cause, metadata: { kind, provider, model: modelId } });
    this.kind = kind;
    this.provider = provider;
    this.modelId = modelId;
    this.retryAfter = details.retryAfterMs;
    this.statusCode = details.statusCode;
    this.providerCode = details.providerCode;
  }

  get retryable(): boolean {
    return isRetryable(this.kind);
  }

  override get retry(): RetryClass {
    return this.retryable ? "retry" : "terminal";
  }
}
