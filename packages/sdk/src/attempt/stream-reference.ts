// A stream, by its name.

import type { Stream } from "../context/streams.ts";
import {
  BadRequestError,
  type CommandEntry,
  type CompletionEntry,
  ContextMisuseError,
  type Failure,
  type HandlerMode,
  ItemsTrimmedError,
  type Payload,
  SerializationError,
} from "@perdure/protocol";
import { encode } from "../json.ts";
import type { ReplayAttempt } from "./replay-attempt.ts";

export class StreamReference<T> implements Stream<T> {
  readonly #attempt: ReplayAttempt;
  readonly #name: string;
  readonly #mode: HandlerMode;

  constructor(attempt: ReplayAttempt, name: string, mode: HandlerMode) {
    checkStreamName(name);
    this.#attempt = attempt;
    this.#name = name;
    this.#mode = mode;
  }

  append(...items: readonly T[]): void {
    const payloads = encodeItems(this.#name, items);
    if (items.length === 0 || !this.#attempt.allowed()) return;
    this.#attempt.issue({ type: "append", stream: this.#name, count: items.length }, undefined, payloads);
  }

  read(from = 0): Promise<T[]> {
    checkOffset(from, `where stream "${this.#name}" is read from`);
    return this.#attempt.request({ type: "readStream", stream: this.#name, from }) as Promise<T[]>;
  }

  length(): Promise<number> {
    return this.#attempt.request({ type: "streamLength", stream: this.#name }) as Promise<number>;
  }

  trim(before: number): void {
    checkOffset(before, `where stream "${this.#name}" is trimmed`);
    if (this.#mode === "shared")
      throw new ContextMisuseError(
        "a shared handler may append to a stream and read it; only the handler that owns the key may trim it",
      );
    if (this.#attempt.allowed()) this.#attempt.issue({ type: "trimStream", stream: this.#name, before });
  }
}

/** Why the result of an entry cannot be shown to code again: it stood in a stream that was trimmed since. */
export function trimmedFailure({ kept, result }: CommandEntry | CompletionEntry): Failure | undefined {
  const isGone =
    kept !== undefined && result?.kind === "failure" && result.failure.errorCode === ItemsTrimmedError.code;
  return isGone ? result.failure : undefined;
}

/** @throws BadRequestError */
export function checkStreamName(name: string): void {
  if (typeof name !== "string" || name === "")
    throw new BadRequestError(`a stream has a name: a text that is not empty, not ${JSON.stringify(name)}`);
}

function checkOffset(offset: number, what: string): void {
  if (!Number.isSafeInteger(offset) || offset < 0)
    throw new BadRequestError(`${what} is an offset: a whole number from 0, not ${offset}`);
}

/** @throws SerializationError */
export function encodeItems(stream: string, items: readonly unknown[]): readonly Payload[] {
  return items.map((item) => {
    const payload = encode(item, `an item of stream "${stream}"`);
    if (payload === undefined)
      throw new SerializationError(`an item of stream "${stream}" is undefined, which JSON cannot hold`);
    return payload;
  });
}
