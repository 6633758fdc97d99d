// 0001: the first schema
// ======================
// Payload columns (`input`, `result`, `value`) hold what was given: TEXT is JSON that SQL can read, BLOB is other bytes.
// An INTEGER in them stands for a payload that is elsewhere: a positive one is `blobs.id`, and 0 in `runs.input` means
// that the input is the entry 0 of the run (inputs over a kilobyte: a run's row is rewritten at every change of status,
// its input need not be).
//
// Every index costs microseconds per run, so there are as few as the port's questions allow:
//   runs_id      by id. The uuid part comes first: where uuids are ordered by time, new runs meet at the right end.
//   runs_status  running and finished pages, counts, filters by status. Suspended runs, of which there may be a million,
//                are left out: that spares every suspension and every wake-up two scattered pages.
//   runs_lane    holder (0) and queue (1) of a key; only unfinished exclusive runs are in it (E3).
//   runs_parent  children of a run. Immutable, so that a run's end does not touch it.
//   entries_completion  whether a command was completed later than it was written.
//   timers_run, waiters_run  what goes when a run is deleted or truncated.

import type { Migration } from "../migrate.ts";

export const initial: Migration = {
  number: 1,
  name: "initial",
  breaking: true,
  sql: `
CREATE TABLE meta (
  name TEXT NOT NULL PRIMARY KEY,
  value ANY
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  status TEXT NOT NULL,
  service TEXT NOT NULL,
  handler TEXT NOT NULL,
  key TEXT,
  mode TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  scheduled_at INTEGER,
  finished_at INTEGER,
  arrival INTEGER NOT NULL,
  lane INTEGER,
  watched INTEGER NOT NULL,
  deployment TEXT,
  parent TEXT,
  parent_command INTEGER,
  parent_awaited INTEGER,
  idempotency_key TEXT,
  headers TEXT,
  awaiting TEXT,
  detail TEXT,
  outcome TEXT,
  result ANY,
  input ANY
) STRICT;
CREATE UNIQUE INDEX runs_id ON runs (substr(id, 17), id);
CREATE INDEX runs_status ON runs (status) WHERE status <> 'suspended';
CREATE INDEX runs_lane ON runs (service, key, lane, arrival) WHERE lane IS NOT NULL;
CREATE INDEX runs_parent ON runs (substr(parent, 17)) WHERE parent IS NOT NULL;

CREATE TABLE entries (
  run INTEGER NOT NULL,
  idx INTEGER NOT NULL,
  at INTEGER NOT NULL,
  type TEXT NOT NULL,
  id INTEGER,
  commands INTEGER NOT NULL,
  name TEXT,
  outcome TEXT,
  result ANY,
  detail TEXT,
  input ANY,
  PRIMARY KEY (run, idx)
) STRICT, WITHOUT ROWID;
CREATE INDEX entries_completion ON entries (run, id) WHERE type = 'completion';

CREATE TABLE timers (
  at INTEGER NOT NULL,
  run INTEGER NOT NULL,
  kind TEXT NOT NULL,
  id INTEGER NOT NULL,
  PRIMARY KEY (at, run, kind, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX timers_run ON timers (run);

CREATE TABLE state (
  service TEXT NOT NULL,
  key TEXT NOT NULL,
  name TEXT NOT NULL,
  value ANY NOT NULL,
  PRIMARY KEY (service, key, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE promises (
  service TEXT NOT NULL,
  key TEXT NOT NULL,
  name TEXT NOT NULL,
  outcome TEXT NOT NULL,
  value ANY,
  PRIMARY KEY (service, key, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE waiters (
  target TEXT NOT NULL,
  run TEXT NOT NULL,
  command INTEGER NOT NULL,
  PRIMARY KEY (target, run, command)
) STRICT, WITHOUT ROWID;
CREATE INDEX waiters_run ON waiters (run);

CREATE TABLE blobs (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL,
  text INTEGER NOT NULL,
  size INTEGER NOT NULL,
  refs INTEGER NOT NULL,
  UNIQUE (hash, text)
) STRICT;
CREATE INDEX blobs_unused ON blobs (id) WHERE refs = 0;

INSERT INTO meta (name, value) VALUES ('epoch', 0), ('last_seq', 0), ('arrival_high', 0), ('opened', 0);
`,
};
