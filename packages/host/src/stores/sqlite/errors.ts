// What SQLite says, as errors of ours. Decided by SQLite's result codes, never by its messages.

import { AssertionError, isPerdureError, StoreDamagedError, StoreWriteError } from "@perdure/protocol";

const CONSTRAINT = 19;
const CORRUPT = 11;
const NOT_A_DATABASE = 26;

/** SQLite's primary result code, or undefined where the error is not SQLite's. */
function sqliteCode(error: unknown): number | undefined {
  const code = (error as { readonly errcode?: unknown } | null)?.errcode;
  return typeof code === "number" ? code & 0xff : undefined;
}

export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === 5 || code === 6;
}

export function isCorrupt(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === CORRUPT || code === NOT_A_DATABASE;
}

/** @param doing what was tried, as in "cannot <doing>: disk full". */
export function translate(error: unknown, doing: string, file: string): unknown {
  const code = sqliteCode(error);
  if (code === undefined || isPerdureError(error)) return error;
  const reason = error instanceof Error ? error.message : String(error);
  if (code === CONSTRAINT)
    return Object.assign(new AssertionError(`the batch contradicts what is stored: ${reason}`), { cause: error });
  if (isCorrupt(error)) {
    return new StoreDamagedError(
      `${file} is damaged (${reason}), cannot ${doing}. Open it read-only to export what can be read, and restore the rest from a backup`,
      { cause: error },
    );
  }
  return new StoreWriteError(`cannot ${doing}: ${reason} (${file})`, { cause: error });
}
