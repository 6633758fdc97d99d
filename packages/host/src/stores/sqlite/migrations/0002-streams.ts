// 0002: streams
// =============
// One row per append. `data` is a payload column where the row has one item; where it has more, all of them are JSON texts
// without line breaks, and stand in it one to a line. Items that do not fit that (bytes, large ones) have rows of their own.
// The length of a stream is the end of its last row, or `start` where it has none: no row is rewritten by an append.
//
// `service` and `key`, or `run`: the owner. `start`: the first offset that was not trimmed. A row that is trimmed in part
// stays whole.
//
// Journals now hold entries whose results stand in streams, which older versions would misread.

import type { Migration } from "../migrate.ts";

export const streams: Migration = {
  number: 2,
  name: "streams",
  breaking: true,
  sql: `
CREATE TABLE streams (
  id INTEGER PRIMARY KEY,
  service TEXT,
  key TEXT,
  run TEXT,
  name TEXT NOT NULL,
  start INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX streams_key ON streams (service, key, name) WHERE run IS NULL;
CREATE UNIQUE INDEX streams_run ON streams (run, name) WHERE run IS NOT NULL;

CREATE TABLE chunks (
  stream INTEGER NOT NULL,
  from_offset INTEGER NOT NULL,
  count INTEGER NOT NULL,
  at INTEGER NOT NULL,
  writer TEXT,
  data ANY NOT NULL,
  PRIMARY KEY (stream, from_offset)
) STRICT, WITHOUT ROWID;
`,
};
