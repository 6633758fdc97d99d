// Statements that were run, newest first, kept in this browser
// =============================================================
// H1. Each is there once, where it was run last. H2. What cannot be read is an empty history, and not a broken page.

const STORED_AS = "perdure.sql-history";
const KEPT_MAX = 100;
const STATEMENT_LENGTH_MAX = 20_000;

type Store = Pick<Storage, "getItem" | "setItem">;

export function readHistory(store: Store): readonly string[] {
  try {
    const kept: unknown = JSON.parse(store.getItem(STORED_AS) ?? "[]");
    return Array.isArray(kept) ? kept.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}

/** The history with it. */
export function remember(store: Store, statement: string): readonly string[] {
  const text = statement.trim();
  const before = readHistory(store);
  if (text === "" || text.length > STATEMENT_LENGTH_MAX) return before;
  return write(store, [text, ...before.filter((other) => other !== text)].slice(0, KEPT_MAX));
}

function write(store: Store, history: readonly string[]): readonly string[] {
  try {
    store.setItem(STORED_AS, JSON.stringify(history));
  } catch {
    // The browser has no room, or keeps nothing: then it is for this visit.
  }
  return history;
}
