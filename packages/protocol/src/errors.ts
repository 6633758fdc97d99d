// Errors are a product: every one has a stable code, a page in docs/errors/, and a class that decides what happens.
//
//   retry: "terminal"  ends the run (or answers the caller) with this failure
//          "retry"     the attempt is tried again with backoff
//          "pause"     the run waits for a person; nothing is lost
//
// Name and code are set on the class, never inferred, and `isPerdureError` looks for a mark rather than a prototype:
// the guest of an isolate and its host are different realms. Nothing in Perdure decides by matching a message.

import type { Failure } from "./payload.ts";

const MARK = Symbol.for("perdure.error");

export type RetryClass = "terminal" | "retry" | "pause";

export interface ErrorOptionsWithCause {
  readonly cause?: unknown;
}

export class PerdureError extends Error {
  static readonly code: string = "P0000";
  static readonly retry: RetryClass = "terminal";
  /** Status as HTTP knows it; what callers of the ingress see. */
  static readonly status: number = 500;
  override readonly name: string = "PerdureError";
  readonly metadata: Readonly<Record<string, string>> | undefined;

  constructor(
    message: string,
    options: ErrorOptionsWithCause & { readonly metadata?: Readonly<Record<string, string>> } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.metadata = options.metadata;
  }

  get code(): string {
    return (this.constructor as typeof PerdureError).code;
  }

  get retry(): RetryClass {
    return (this.constructor as typeof PerdureError).retry;
  }

  /** HTTP status. */
  get status(): number {
    return (this.constructor as typeof PerdureError).status;
  }

  toFailure(): Failure {
    const failure = { code: this.status, message: this.message, errorCode: this.code };
    return this.metadata === undefined ? failure : { ...failure, metadata: this.metadata };
  }
}

Object.defineProperty(PerdureError.prototype, MARK, { value: true });

export function isPerdureError(error: unknown): error is PerdureError {
  return typeof error === "object" && error !== null && (error as Record<symbol, unknown>)[MARK] === true;
}

/** Thrown by user code to end a run for good: never retried, the caller gets exactly this. */
export class TerminalError extends PerdureError {
  static override readonly code: string = "P0001";
  override readonly name: string = "TerminalError";
  readonly #status: number;

  /** @param options.status what HTTP callers see, 400 to 599; 500 where absent. */
  constructor(
    message: string,
    options: ErrorOptionsWithCause & {
      readonly status?: number;
      readonly metadata?: Readonly<Record<string, string>>;
    } = {},
  ) {
    super(message, options);
    this.#status = options.status ?? 500;
  }

  override get status(): number {
    return this.#status;
  }
}

/** The run was cancelled. Thrown at what the handler waits for; catch it to compensate, then throw it again. */
export class CancelledError extends TerminalError {
  static override readonly code = "P0002";
  override readonly name = "CancelledError";
  constructor(message = "the run was cancelled") {
    super(message, { status: 409 });
  }
}

/** The run was killed: ended at once, without compensation. */
export class KilledError extends TerminalError {
  static override readonly code = "P0003";
  override readonly name = "KilledError";
  constructor(message = "the run was killed") {
    super(message, { status: 409 });
  }
}

/** A step used up its retry policy, and the policy says `onExhausted: "throw"`. */
export class StepFailedError extends TerminalError {
  static override readonly code = "P0004";
  override readonly name = "StepFailedError";
}

/** The last attempt that a policy allows failed: the run is paused, not lost. */
export class RetriesExhaustedError extends PerdureError {
  static override readonly code = "P0010";
  static override readonly retry = "pause";
  override readonly name = "RetriesExhaustedError";
}

/** An at-most-once effect was begun, and nobody knows whether it happened. */
export class UnknownEffectError extends PerdureError {
  static override readonly code = "P0011";
  static override readonly retry = "pause";
  override readonly name = "UnknownEffectError";
}

/** The code takes another path than the one that is recorded. */
export class JournalMismatchError extends PerdureError {
  static override readonly code = "P0016";
  static override readonly retry = "pause";
  override readonly name = "JournalMismatchError";
}

/** Handler code did something outside a step that a replay would do again. */
export class UnjournaledEffectError extends PerdureError {
  static override readonly code = "P0017";
  static override readonly retry = "pause";
  override readonly name = "UnjournaledEffectError";
}

/** The context was used where it cannot be: inside a step, after the handler's end, by another run. */
export class ContextMisuseError extends PerdureError {
  static override readonly code = "P0018";
  static override readonly status = 500;
  override readonly name = "ContextMisuseError";
}

/** A value cannot be written as JSON. */
export class SerializationError extends PerdureError {
  static override readonly code = "P0020";
  override readonly name = "SerializationError";
}

/** Input or output does not fit its schema, or is not JSON. */
export class ValidationError extends PerdureError {
  static override readonly code = "P0021";
  static override readonly status = 400;
  override readonly name = "ValidationError";
}

export class PayloadTooLargeError extends PerdureError {
  static override readonly code = "P0022";
  static override readonly status = 413;
  override readonly name = "PayloadTooLargeError";
}

/** No such service or handler; the message names near matches. */
export class UnknownTargetError extends PerdureError {
  static override readonly code = "P0030";
  static override readonly status = 404;
  override readonly name = "UnknownTargetError";
}

export class RunNotFoundError extends PerdureError {
  static override readonly code = "P0031";
  static override readonly status = 404;
  override readonly name = "RunNotFoundError";
}

/** More is waiting than the configuration allows. */
export class OverloadedError extends PerdureError {
  static override readonly code = "P0032";
  static override readonly status = 429;
  override readonly name = "OverloadedError";
}

/** What was asked does not fit the state that the run, promise or key is in. */
export class ConflictError extends PerdureError {
  static override readonly code = "P0033";
  static override readonly status = 409;
  override readonly name = "ConflictError";
}

/** A request is malformed in a way that is not about the handler's input. */
export class BadRequestError extends PerdureError {
  static override readonly code = "P0034";
  static override readonly status = 400;
  override readonly name = "BadRequestError";
}

/** The result is not there yet. */
export class NotReadyError extends PerdureError {
  static override readonly code = "P0035";
  static override readonly status = 470;
  override readonly name = "NotReadyError";
}

/** Credentials are missing or wrong. */
export class UnauthorizedError extends PerdureError {
  static override readonly code = "P0036";
  static override readonly status = 401;
  override readonly name = "UnauthorizedError";
}

/** The server is draining; ask again, or ask another one. */
export class ShuttingDownError extends PerdureError {
  static override readonly code = "P0037";
  static override readonly status = 503;
  override readonly name = "ShuttingDownError";
}

/** What the journal points to in a stream was trimmed: nothing but the same items may be shown to the code again. */
export class ItemsTrimmedError extends PerdureError {
  static override readonly code = "P0038";
  static override readonly retry = "pause";
  static override readonly status = 410;
  override readonly name = "ItemsTrimmedError";
}

/** Another process has this data directory open. */
export class StoreLockedError extends PerdureError {
  static override readonly code = "P0040";
  override readonly name = "StoreLockedError";
}

/** The data on disk is damaged; it can be opened read-only for export. */
export class StoreDamagedError extends PerdureError {
  static override readonly code = "P0041";
  override readonly name = "StoreDamagedError";
}

/** The data was written by a newer Perdure. */
export class StoreVersionError extends PerdureError {
  static override readonly code = "P0042";
  override readonly name = "StoreVersionError";
}

/** The store refused a write (disk full, I/O error). */
export class StoreWriteError extends PerdureError {
  static override readonly code = "P0043";
  static override readonly status = 503;
  override readonly name = "StoreWriteError";
}

/** Another host owns this partition now: what this one still wanted to write is refused. */
export class FencedError extends PerdureError {
  static override readonly code = "P0044";
  static override readonly status = 503;
  override readonly name = "FencedError";
}

export class PortTakenError extends PerdureError {
  static override readonly code = "P0050";
  override readonly name = "PortTakenError";
}

/** Listening on an address that others can reach needs credentials. */
export class BindRefusedError extends PerdureError {
  static override readonly code = "P0051";
  override readonly name = "BindRefusedError";
}

/** A file that was to be served cannot be loaded, or exports nothing to serve. */
export class ModuleLoadError extends PerdureError {
  static override readonly code = "P0052";
  override readonly name = "ModuleLoadError";
}

/** The command line cannot reach a runtime. */
export class UnreachableError extends PerdureError {
  static override readonly code = "P0053";
  override readonly name = "UnreachableError";
}

/** A definition is wrong: a name that cannot stand in a path, two services of one name, an option that is out of range. */
export class DefinitionError extends PerdureError {
  static override readonly code = "P0054";
  override readonly name = "DefinitionError";
}

/** A module cannot run inside an isolate: it asks for something that is there in Node only, or it cannot be bundled. */
export class IsolateModuleError extends PerdureError {
  static override readonly code = "P0055";
  static override readonly retry = "pause";
  override readonly name = "IsolateModuleError";
}

export class InvalidDurationError extends PerdureError {
  static override readonly code = "P0060";
  static override readonly status = 400;
  override readonly name = "InvalidDurationError";
  constructor(text: string) {
    super(`"${text}" is not a duration: write milliseconds, or 250ms, 10s, 5m, 2h, 7d, 1h30m, or ISO 8601 (PT15M)`);
  }
}

/** No model could answer just now (a limit, an outage, a cut stream). The step around the call is tried again. */
export class ModelUnavailableError extends PerdureError {
  static override readonly code: string = "P0070";
  static override readonly retry: RetryClass = "retry";
  static override readonly status: number = 503;
  override readonly name: string = "ModelUnavailableError";
}

/** What was sent is longer than the model, and every model to fall back on, can take. */
export class ContextLengthError extends TerminalError {
  static override readonly code = "P0071";
  override readonly name = "ContextLengthError";
}

/** The provider does not let this account in: a key that is missing or wrong, no permission, a quota that is used up. */
export class ModelAccessError extends TerminalError {
  static override readonly code = "P0072";
  override readonly name = "ModelAccessError";
}

/** The provider refuses the request as it is written: sent again, it would be refused again. */
export class ModelRequestError extends TerminalError {
  static override readonly code = "P0073";
  override readonly name = "ModelRequestError";
}

/** A model's name cannot be resolved: not of the form `provider/model`, or its provider cannot be loaded. */
export class UnknownModelError extends PerdureError {
  static override readonly code = "P0074";
  override readonly name = "UnknownModelError";
}

/** No approval has this id: it was never asked, or its retention is over. */
export class ApprovalNotFoundError extends PerdureError {
  static override readonly code = "P0080";
  static override readonly status = 404;
  override readonly name = "ApprovalNotFoundError";
}

/** An approval was answered already, has expired, or was withdrawn. */
export class ApprovalClosedError extends PerdureError {
  static override readonly code = "P0081";
  static override readonly status = 409;
  override readonly name = "ApprovalClosedError";
}

/** Somebody answered an approval who is not among its approvers. */
export class NotAnApproverError extends PerdureError {
  static override readonly code = "P0082";
  static override readonly status = 403;
  override readonly name = "NotAnApproverError";
}

/** A budget has no room for a call, and whoever was asked for more said no. */
export class BudgetExhaustedError extends TerminalError {
  static override readonly code = "P0090";
  override readonly name = "BudgetExhaustedError";
  constructor(
    message: string,
    options: ErrorOptionsWithCause & { readonly metadata?: Readonly<Record<string, string>> } = {},
  ) {
    super(message, { ...options, status: 402 });
  }
}

/** The bytes of an image are not those of an image, or not whole: it is passed over for the one before. */
export class ImageDamagedError extends PerdureError {
  static override readonly code = "P0100";
  static override readonly retry = "pause";
  override readonly name = "ImageDamagedError";
}

/** An image was made by an engine, or needs a bundle or a base, that is not here. */
export class ImageMismatchError extends PerdureError {
  static override readonly code = "P0101";
  static override readonly retry = "pause";
  override readonly name = "ImageMismatchError";
}

/** Code inside an isolate used more time or memory than it is allowed. */
export class IsolateLimitError extends PerdureError {
  static override readonly code = "P0102";
  static override readonly retry = "pause";
  override readonly name = "IsolateLimitError";
}

/** Code inside an isolate calls a function of a host module that this process does not have. */
export class HostFunctionMissingError extends PerdureError {
  static override readonly code = "P0103";
  static override readonly retry = "pause";
  override readonly name = "HostFunctionMissingError";
}

/** A run cannot go over to other code now; nothing of it was changed. */
export class MigrationRefusedError extends PerdureError {
  static override readonly code = "P0104";
  static override readonly status = 409;
  override readonly name = "MigrationRefusedError";
}

/** A failure that came back over a boundary (a child run, a server) as an error that user code can catch. */
export function errorFromFailure(failure: Failure): TerminalError {
  if (failure.errorCode === CancelledError.code) return new CancelledError(failure.message);
  if (failure.errorCode === KilledError.code) return new KilledError(failure.message);
  if (failure.errorCode === StepFailedError.code) return new StepFailedError(failure.message, failureOptions(failure));
  return new RemoteError(failure);
}

function failureOptions(failure: Failure): { status: number; metadata?: Readonly<Record<string, string>> } {
  return failure.metadata === undefined
    ? { status: failure.code }
    : { status: failure.code, metadata: failure.metadata };
}

/** A terminal failure of somebody else, with its own code and status kept. */
export class RemoteError extends TerminalError {
  override readonly name = "TerminalError";
  readonly #code: string;
  constructor(failure: Failure) {
    super(failure.message, failureOptions(failure));
    this.#code = failure.errorCode ?? TerminalError.code;
  }
  override get code(): string {
    return this.#code;
  }
}

/** Any thrown value as a failure. Only errors of ours carry a status; the rest is 500. */
export function failureFrom(error: unknown): Failure {
  if (isPerdureError(error)) return error.toFailure();
  if (error instanceof Error) {
    const message = error.message === "" ? error.name : error.message;
    return error.stack === undefined ? { code: 500, message } : { code: 500, message, stack: error.stack };
  }
  return {
    code: 500,
    message: typeof error === "string" ? error : `a value was thrown that is not an error: ${describe(error)}`,
  };
}

function describe(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}
