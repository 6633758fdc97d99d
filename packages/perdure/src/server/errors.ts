// Errors as HTTP answers: one shape for all, `{"error": {"code", "message", "status", …}}`, and never a stack.

import type { IncomingMessage, ServerResponse } from "node:http";
import {
  BadRequestError,
  OverloadedError,
  PayloadTooLargeError,
  PerdureError,
  ShuttingDownError,
  StoreWriteError,
  TerminalError,
  isPerdureError,
  type ApiError,
  type Failure,
  type RunId,
} from "@perdure/protocol";
import type { Traffic } from "./context.ts";

/** A request that is wrong as HTTP: path, method, host, origin. */
export class RequestError extends BadRequestError {
  override readonly name = "BadRequestError";
  readonly #status: number;
  /** Methods that the path knows (405). */
  readonly allow: string | undefined;

  constructor(status: number, message: string, options: { readonly allow?: string; readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.#status = status;
    this.allow = options.allow;
  }

  override get status(): number {
    return this.#status;
  }
}

/** Statuses of our own that HTTP has no words for. */
const REASONS: Readonly<Record<number, string>> = {
  470: "Not Ready",
  570: "Journal Mismatch",
  571: "Protocol Violation",
};
const RETRY_AFTER_S = 1;
/** A server that drains is replaced by another one, or by itself. */
const RETRY_AFTER_DRAINING_S = 3;
/** What is left of a refused body may still arrive for this long. */
const LEFTOVER_MS = 10_000;

/** How errors are answered, reported and counted on one listener. */
export class ErrorAnswers {
  readonly #traffic: Traffic;
  readonly #onError: ((error: unknown) => void) | undefined;

  constructor(traffic: Traffic, onError: ((error: unknown) => void) | undefined) {
    this.#traffic = traffic;
    this.#onError = onError;
  }

  send(req: IncomingMessage, res: ServerResponse, error: unknown, run?: RunId): void {
    const known = this.known(error);
    const headers: Record<string, string> = {};
    if (known instanceof RequestError && known.allow !== undefined) headers["allow"] = known.allow;
    if (known.status === 401) headers["www-authenticate"] = 'Bearer realm="perdure"';
    const wait = retryAfter(known);
    if (wait !== undefined) headers["retry-after"] = String(wait);
    this.#write(req, res, apiError(known, run), headers);
  }

  /** A run that ended in a failure. */
  failure(req: IncomingMessage, res: ServerResponse, failure: Failure, run: RunId): void {
    const status = failure.code >= 400 && failure.code <= 599 ? Math.trunc(failure.code) : 500;
    const error: ApiError = {
      code: failure.errorCode ?? TerminalError.code,
      message: failure.message,
      status,
      runId: run,
      ...(failure.metadata?.["path"] === undefined ? {} : { path: failure.metadata["path"] }),
      ...(failure.metadata === undefined ? {} : { metadata: failure.metadata }),
    };
    this.#write(req, res, error, {});
  }

  #write(req: IncomingMessage, res: ServerResponse, error: ApiError, headers: Record<string, string>): void {
    this.#traffic.errors.set(error.code, (this.#traffic.errors.get(error.code) ?? 0) + 1);
    if (res.headersSent || res.destroyed) {
      res.destroy(); // Half an answer is out: the connection's end says that it is not whole.
      return;
    }
    const text = JSON.stringify({ error });
    headers["content-type"] = "application/json";
    headers["content-length"] = String(Buffer.byteLength(text));
    if (error.runId !== undefined) headers["x-perdure-run"] = error.runId;
    if (!req.complete) dropLeftover(req);
    const reason = REASONS[error.status];
    if (reason === undefined) res.writeHead(error.status, headers);
    else res.writeHead(error.status, reason, headers);
    res.end(req.method === "HEAD" ? undefined : text);
  }

  /** The error as one of ours; whatever nobody expected is reported, and shown as nothing but that. */
  known(error: unknown): PerdureError {
    if (isPerdureError(error)) {
      if (error.status >= 500 && !(error instanceof ShuttingDownError) && !(error instanceof TerminalError))
        this.#onError?.(error);
      return error;
    }
    const ours = frameworkError(error);
    if (ours !== undefined) return ours;
    this.#onError?.(error);
    return new PerdureError("something went wrong inside the server; its log says what");
  }
}

function apiError(error: PerdureError, run?: RunId): ApiError {
  const { metadata } = error;
  return {
    code: error.code,
    message: error.message,
    status: error.status,
    ...(run === undefined ? {} : { runId: run }),
    ...(metadata?.["path"] === undefined ? {} : { path: metadata["path"] }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

function retryAfter(error: PerdureError): number | undefined {
  if (error instanceof OverloadedError || error instanceof StoreWriteError) return RETRY_AFTER_S;
  if (error instanceof ShuttingDownError) return RETRY_AFTER_DRAINING_S;
  return error.status === 429 || error.status === 503 ? RETRY_AFTER_S : undefined;
}

/** Fastify's own errors carry a status: those below 500 are about the request. */
function frameworkError(error: unknown): PerdureError | undefined {
  if (!(error instanceof Error)) return undefined;
  const { statusCode, code } = error as { readonly statusCode?: unknown; readonly code?: unknown };
  if (code === "FST_ERR_VALIDATION" && isPerdureError(error.cause)) return error.cause;
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE")
    return new PayloadTooLargeError("the body is larger than the server takes");
  if (typeof statusCode === "number" && statusCode >= 400 && statusCode < 500)
    return new RequestError(statusCode, error.message, { cause: error });
  return undefined;
}

/**
 * The answer goes out while the asker is still sending. Closing at once would make it lose the answer (a reset overtakes
 * it), so what still comes is dropped, for a while.
 */
function dropLeftover(req: IncomingMessage): void {
  req.resume();
  const timer = setTimeout(() => {
    if (!req.complete) req.socket.destroy();
  }, LEFTOVER_MS);
  timer.unref();
  const stop = (): void => clearTimeout(timer);
  req.once("end", stop);
  req.once("close", stop);
}
