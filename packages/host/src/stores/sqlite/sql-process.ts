// The process that runs one statement of a person (see sql-console.ts). It imports nothing but Node, so that it starts
// fast and from source as well as from the published package.

import { constants, DatabaseSync } from "node:sqlite";
import type { SqlAnswer, SqlRequest } from "./sql-console.ts";

/** SQLite's own memory in this process. */
const HEAP_BYTES_MAX = 512 * 1024 * 1024;

process.once("message", (request) => {
  process.send?.(answer(request as SqlRequest));
});

function answer({ file, query, limit }: SqlRequest): SqlAnswer {
  const refusal = refuse(query);
  if (refusal !== null) return { ok: false, message: refusal };
  let db: DatabaseSync | null = null;
  try {
    db = new DatabaseSync(file, { readOnly: true, timeout: 1_000 });
    db.exec(
      `PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY; PRAGMA hard_heap_limit = ${HEAP_BYTES_MAX}`,
    );
    allowReadingOnly(db);
    return read(db, query, limit);
  } catch (error) {
    const message = messageOf(error);
    const position = db === null ? null : placeOf(db, query, message);
    return { ok: false, message, ...(position === null ? {} : { position }) };
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** More often than this a word of a statement is not tried. */
const TRIES_MAX = 500;

/**
 * Where a statement is wrong: node:sqlite tells the word, and not which of those that are written so. Of a syntax error it
 * is the first one up to which the statement, cut off there, has the same error; of a name that is not known, the first.
 */
function placeOf(db: DatabaseSync, query: string, message: string): number | null {
  const near = /^(?:near|unrecognized token:) "([\s\S]+?)"(?:: syntax error)?$/.exec(message)?.[1];
  const name = /^no such (?:column|table|function): (.+)$/.exec(message)?.[1];
  const word = near ?? name;
  if (word === undefined) return null;
  const places = placesOf(query, word);
  if (near === undefined) return places.find((place) => isWord(query, place, word)) ?? null;
  for (const place of places.slice(0, TRIES_MAX)) {
    try {
      db.prepare(query.slice(0, place + word.length));
    } catch (error) {
      if (messageOf(error) === message) return place;
    }
  }
  return null;
}

function placesOf(query: string, word: string): readonly number[] {
  const places: number[] = [];
  for (let at = query.indexOf(word); at >= 0; at = query.indexOf(word, at + 1)) places.push(at);
  return places;
}

/** Not a part of a longer name. */
function isWord(query: string, place: number, word: string): boolean {
  return !/\w/.test(query[place - 1] ?? "") && !/\w/.test(query[place + word.length] ?? "");
}

/** Why a text is not one reading statement, as far as its words tell. */
function refuse(query: string): string | null {
  const first = /^\w+/.exec(withoutComments(query))?.[0]?.toLowerCase() ?? "";
  return ["select", "with", "values", "explain"].includes(first)
    ? null
    : "only one statement that reads is allowed: SELECT, WITH, VALUES or EXPLAIN";
}

/** Without the comments, spaces and semicolons that it begins with. */
function withoutComments(text: string): string {
  return text.replace(/^(?:[\s;]+|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)+/, "");
}

function allowReadingOnly(db: DatabaseSync): void {
  // Newer than the first release of Node 24.
  const { setAuthorizer } = db as { setAuthorizer?: DatabaseSync["setAuthorizer"] };
  if (setAuthorizer === undefined) return;
  const reading = new Set<number>([
    constants.SQLITE_SELECT,
    constants.SQLITE_READ,
    constants.SQLITE_FUNCTION,
    constants.SQLITE_RECURSIVE,
  ]);
  db.setAuthorizer((action, name, argument) => {
    if (reading.has(action)) return constants.SQLITE_OK;
    // Table-valued functions such as pragma_table_info() prepare a pragma that asks about a table.
    const asks =
      action === constants.SQLITE_PRAGMA &&
      /^(?:table_x?info|index_list|index_x?info|table_list)$/i.test(name ?? "") &&
      argument !== undefined;
    return asks ? constants.SQLITE_OK : constants.SQLITE_DENY;
  });
}

function read(db: DatabaseSync, query: string, limit: number): SqlAnswer {
  const statement = db.prepare(query);
  // `sourceSQL` ends where the first statement does.
  if (withoutComments(query.slice(statement.sourceSQL.length)) !== "")
    return { ok: false, message: "only one statement at a time is allowed" };
  statement.setReturnArrays(true);
  statement.setReadBigInts(true);
  const columns = statement.columns().map((column) => column.name);
  const rows: unknown[][] = [];
  let truncated = false;
  for (const row of statement.iterate() as Iterable<unknown>) {
    if (rows.length >= limit) {
      truncated = true;
      break;
    }
    rows.push((row as unknown[]).map(plainNumber));
  }
  return { ok: true, result: { columns, rows, truncated } };
}

/** Whole numbers as numbers; those that a number cannot hold as text. */
function plainNumber(value: unknown): unknown {
  if (typeof value !== "bigint") return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}
