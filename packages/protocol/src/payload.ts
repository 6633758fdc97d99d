// Payloads, failures and results: what travels between user code, journal and callers.
//
// A payload is opaque to the engine. Text is JSON written by the SDK or by a caller; bytes are anything else (other
// content types, other languages). Both survive the store unchanged, so a reader of the database sees JSON as text.

/** JSON text, or raw bytes. */
export type Payload = string | Uint8Array;

/**
 * A final failure as user code and callers see it. `code` follows HTTP status codes (500 where nothing fits).
 * `errorCode` is the stable Perdure code (`P0016`) where the failure is one of ours.
 */
export interface Failure {
  readonly code: number;
  readonly message: string;
  readonly errorCode?: string;
  readonly stack?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** How something ended. `void` is a success without a value (a timer, `undefined`, an absent state key). */
export type Result =
  | { readonly kind: "value"; readonly value: Payload }
  | { readonly kind: "void" }
  | { readonly kind: "failure"; readonly failure: Failure };

export const VOID: Result = { kind: "void" };

export function valueResult(value: Payload | undefined): Result {
  return value === undefined ? VOID : { kind: "value", value };
}

export function failureResult(failure: Failure): Result {
  return { kind: "failure", failure };
}

/** Size in bytes as the store counts it. Text is counted in UTF-16 units, which never exceeds its bytes in UTF-8. */
export function payloadSize(payload: Payload | null | undefined): number {
  if (payload === null || payload === undefined) return 0;
  return typeof payload === "string" ? payload.length : payload.byteLength;
}
