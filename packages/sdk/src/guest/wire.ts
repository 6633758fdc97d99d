// What crosses the border of an isolate: JSON texts, one function in each direction
// ==================================================================================
// The host gives the guest one event at a time and lets it run until nothing in it can go on; then it takes what the guest
// has to say, all at once. Nothing of the host's is ever held inside: calls and timers are numbers, so that a heap that is
// put back from an image refers to nothing that has gone.
//
//   turn(event) ─▶ jobs ─▶ settle() ─▶ jobs ─▶ settle() ─▶ … ─▶ outbox
//
// Payloads may be bytes, which JSON cannot hold: they travel as `{ "~bytes": base64 }`. What a model or a user wrote may look
// like that, and stays what it is.

import type {
  AttemptFailure,
  AttemptStart,
  Awaiting,
  Command,
  Entry,
  Failure,
  Instant,
  Payload,
  Result,
  RetryClass,
} from "@perdure/protocol";
import type { StateMigration } from "../attempt/migrate-state.ts";
import type { LogLevel } from "../ports.ts";

/** Name of the host's function in the guest's global object: it sets the clock that guest code reads. */
export const SET_CLOCK = "__perdure_setClock";
/** Another: random bytes of the host, as hexadecimal digits. For steps alone (G2). */
export const RANDOM_BYTES = "__perdure_randomBytes";
/** Name of the guest's entry points in its global object. */
export const GUEST = "__perdure_guest";

/** What a guest needs of `AttemptStart`. The state is a list of pairs. */
export type WireStart = Omit<AttemptStart, "state" | "image"> & {
  readonly state: readonly (readonly [string, Payload])[] | null;
};

/** Host to guest. Every one carries the time. */
export type GuestEvent = { readonly now: Instant } & (
  | { readonly type: "start"; readonly start: WireStart }
  /** The heap was just put back from the image that stands at `entry`. */
  | { readonly type: "resume"; readonly start: WireStart; readonly entry: number }
  | { readonly type: "notify"; readonly entries: readonly Entry[] }
  | { readonly type: "callSaid"; readonly call: number; readonly said: CallWord }
  | { readonly type: "callEnded"; readonly call: number; readonly outcome: CallOutcome }
  | { readonly type: "timer"; readonly timer: number }
  /** Suspend now, if it waits. */
  | { readonly type: "yield" }
  /** Another run is to go over to this code: what becomes of its state. Answered by `migrated` at once. */
  | { readonly type: "migrate"; readonly migration: StateMigration }
  /** The rehearsal is over: the next start is the first. */
  | { readonly type: "forget" }
);

/** What a host function says before it ends. */
export type CallWord =
  | { readonly kind: "callback"; readonly callback: number; readonly args: readonly unknown[] }
  /** It gives one thing after the other. */
  | { readonly kind: "item"; readonly value: unknown };

export type CallOutcome =
  | { readonly kind: "value"; readonly value: unknown }
  /** Of a function that gave items: there are no more. */
  | { readonly kind: "done" }
  | {
      readonly kind: "failure";
      readonly failure: Failure;
      readonly name: string;
      /** Of an error of ours, what its class decides. */
      readonly retry?: RetryClass;
      readonly retryAfterMs?: number;
    };

/**
 * What stands among a call's arguments and is no data: it is named beside them, so that no data can pass for it. `at` is an
 * argument, or a property of one.
 */
export type WireHandle = { readonly at: readonly [argument: number, property?: string] } & (
  | { readonly kind: "signal"; readonly signal: WireSignal }
  | { readonly kind: "callback"; readonly callback: number }
  /** What a host module exports and cannot cross over. */
  | { readonly kind: "value"; readonly reference: string }
  /** A step's info. */
  | {
      readonly kind: "info";
      readonly command: number;
      readonly attempt: number;
      readonly idempotencyKey: string;
      readonly signal: WireSignal;
    }
);

/** By its number among the signals of the call. */
export interface WireSignal {
  readonly number: number;
  /** It has fired already. */
  readonly reason?: WireReason;
}

/** Why a signal fired, as far as it can be told; null: without words. */
export type WireReason = { readonly name: string; readonly message: string } | null;

/** Guest to host. */
export type GuestMessage =
  | {
      readonly type: "command";
      readonly id: number;
      readonly command: Command;
      readonly result?: Result;
      readonly items?: readonly Payload[];
    }
  | { readonly type: "propose"; readonly id: number; readonly result: Result }
  | { readonly type: "append"; readonly stream: string; readonly items: readonly Payload[]; readonly writer: string }
  | {
      readonly type: "retrying";
      readonly id: number;
      readonly tries: number;
      readonly failure: Failure;
      readonly retryAt: Instant;
    }
  | { readonly type: "end"; readonly result: Result }
  | { readonly type: "suspend"; readonly awaiting: readonly Awaiting[]; readonly entriesSeen: number }
  | { readonly type: "error"; readonly failure: AttemptFailure }
  /** Of the engine, in the guest's name: nobody has handled it by the end of the turn. */
  | { readonly type: "unhandledRejection"; readonly message: string; readonly stack?: string }
  | { readonly type: "migrated"; readonly state: Result }
  | { readonly type: "notMigrated"; readonly failure: Failure }
  /** Runs a function of a host module: the hands. */
  | {
      readonly type: "call";
      readonly call: number;
      readonly target: string;
      readonly args: readonly unknown[];
      readonly handles: readonly WireHandle[];
    }
  /** One of its signals fired. */
  | { readonly type: "abortCall"; readonly call: number; readonly signal: number; readonly reason: WireReason }
  /** A timer that does not outlive the instance: retries, time limits, timers inside of steps. */
  | { readonly type: "setTimer"; readonly timer: number; readonly ms: number }
  | { readonly type: "clearTimer"; readonly timer: number }
  | {
      readonly type: "log";
      readonly level: LogLevel;
      readonly message: string;
      readonly fields?: Readonly<Record<string, unknown>>;
    };

/** What the guest says when nothing in it can go on by itself. */
export interface Outbox {
  readonly messages: readonly GuestMessage[];
  /** What it waits for, where it waits. */
  readonly awaiting: readonly Awaiting[] | null;
  /** The last entry that an image of it would have seen; null: it may not be imaged now. */
  readonly imageableAt: number | null;
}

/** What the host finds under `GUEST`. Both give JSON; an empty text from `settle` says that there is more to run. */
export interface GuestEntryPoints {
  /** What the bundle serves, as `service/handler`. */
  readonly handlers: () => string;
  readonly turn: (event: string) => void;
  readonly settle: () => string;
}

const BYTES = "~bytes";
/** An object of the user's that has one of these two keys: its entries. */
const PLAIN = "~plain";

export function toWire(value: unknown): string {
  return needsMarks(value, 0) ? JSON.stringify(value, marked) : JSON.stringify(value);
}

function marked(_key: string, part: unknown): unknown {
  if (part instanceof Uint8Array) return { [BYTES]: bytesToBase64(part) };
  if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
  return Object.hasOwn(part, BYTES) || Object.hasOwn(part, PLAIN) ? { [PLAIN]: Object.entries(part) } : part;
}

/** What is deeper is not looked at: it may go round in circles, which whoever writes it finds out. */
const DEPTH_MAX = 64;

/** A replacer is called for every value, and makes a text cost three times as much: most hold nothing to be marked. */
function needsMarks(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (value instanceof Uint8Array || depth > DEPTH_MAX || "toJSON" in value) return true;
  if (Array.isArray(value)) return value.some((part) => needsMarks(part, depth + 1));
  for (const name in value) {
    if (name === BYTES || name === PLAIN) return true;
    if (needsMarks((value as Readonly<Record<string, unknown>>)[name], depth + 1)) return true;
  }
  return false;
}

export function fromWire(text: string): unknown {
  if (!text.includes(BYTES) && !text.includes(PLAIN)) return JSON.parse(text);
  return JSON.parse(text, (_key, part: unknown) => {
    if (typeof part !== "object" || part === null) return part;
    const { [BYTES]: bytes, [PLAIN]: entries } = part as {
      readonly [BYTES]?: string;
      readonly [PLAIN]?: [string, unknown][];
    };
    if (bytes !== undefined) return base64ToBytes(bytes);
    return entries === undefined ? part : Object.fromEntries(entries);
  });
}

/** Both QuickJS and Node have `btoa` and `atob`; types of this package know no platform. */
declare const btoa: (binary: string) => string;
declare const atob: (base64: string) => string;

const CHARACTERS_AT_ONCE = 8_192;

function bytesToBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let from = 0; from < bytes.length; from += CHARACTERS_AT_ONCE)
    binary += String.fromCharCode(...bytes.subarray(from, from + CHARACTERS_AT_ONCE));
  return btoa(binary);
}

function base64ToBytes(base64: string): Uint8Array {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return bytes;
}
