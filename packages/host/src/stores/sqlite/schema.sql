CREATE TABLE artifacts (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL,
  kind TEXT NOT NULL,
  about TEXT NOT NULL,
  size INTEGER NOT NULL,
  at INTEGER NOT NULL,
  data ANY NOT NULL,
  UNIQUE (hash)
) STRICT;

CREATE TABLE blobs (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL,
  text INTEGER NOT NULL,
  size INTEGER NOT NULL,
  refs INTEGER NOT NULL,
  UNIQUE (hash, text)
) STRICT;

CREATE TABLE chunks (
  stream INTEGER NOT NULL,
  from_offset INTEGER NOT NULL,
  count INTEGER NOT NULL,
  at INTEGER NOT NULL,
  writer TEXT,
  data ANY NOT NULL,
  PRIMARY KEY (stream, from_offset)
) STRICT, WITHOUT ROWID;

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

CREATE TABLE image_bytes (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL,
  refs INTEGER NOT NULL,
  data ANY NOT NULL,
  UNIQUE (hash)
) STRICT;

CREATE TABLE images (
  run INTEGER NOT NULL,
  entry INTEGER NOT NULL,
  hash TEXT NOT NULL,
  base TEXT NOT NULL,
  size INTEGER NOT NULL,
  at INTEGER NOT NULL,
  name TEXT,
  PRIMARY KEY (run, entry)
) STRICT, WITHOUT ROWID;

CREATE TABLE meta (
  name TEXT NOT NULL PRIMARY KEY,
  value ANY
) STRICT, WITHOUT ROWID;

CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, breaking INTEGER NOT NULL, applied_at INTEGER NOT NULL) STRICT;

CREATE TABLE promises (
  service TEXT NOT NULL,
  key TEXT NOT NULL,
  name TEXT NOT NULL,
  outcome TEXT NOT NULL,
  value ANY,
  PRIMARY KEY (service, key, name)
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

CREATE TABLE state (
  service TEXT NOT NULL,
  key TEXT NOT NULL,
  name TEXT NOT NULL,
  value ANY NOT NULL,
  PRIMARY KEY (service, key, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE streams (
  id INTEGER PRIMARY KEY,
  service TEXT,
  key TEXT,
  run TEXT,
  name TEXT NOT NULL,
  start INTEGER NOT NULL
) STRICT;

CREATE TABLE timers (
  at INTEGER NOT NULL,
  run INTEGER NOT NULL,
  kind TEXT NOT NULL,
  id INTEGER NOT NULL,
  PRIMARY KEY (at, run, kind, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE waiters (
  target TEXT NOT NULL,
  run TEXT NOT NULL,
  command INTEGER NOT NULL,
  PRIMARY KEY (target, run, command)
) STRICT, WITHOUT ROWID;

CREATE INDEX blobs_unused ON blobs (id) WHERE refs = 0;

CREATE INDEX entries_completion ON entries (run, id) WHERE type = 'completion';

CREATE INDEX images_base ON images (base);

CREATE INDEX runs_bundle ON runs (deployment) WHERE length(deployment) = 64;

CREATE UNIQUE INDEX runs_id ON runs (substr(id, 17), id);

CREATE INDEX runs_lane ON runs (service, key, lane, arrival) WHERE lane IS NOT NULL;

CREATE INDEX runs_parent ON runs (substr(parent, 17)) WHERE parent IS NOT NULL;

CREATE INDEX runs_status ON runs (status) WHERE status <> 'suspended';

CREATE UNIQUE INDEX streams_key ON streams (service, key, name) WHERE run IS NULL;

CREATE UNIQUE INDEX streams_run ON streams (run, name) WHERE run IS NOT NULL;

CREATE INDEX timers_run ON timers (run);

CREATE INDEX waiters_run ON waiters (run);
