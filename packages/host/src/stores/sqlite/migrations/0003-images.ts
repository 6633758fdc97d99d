// 0003: images and artifacts
// ==========================
// An image is a row of `images`; its bytes stand once per hash in `image_bytes`, with the number of images that have it.
// `data` is a payload column: bytes over the inline limit are in the blob store.
//
// A run's image may have seen entries that an older version would feed to it again, so older versions refuse this data.
//
//   runs_bundle   which runs need an artifact; runs whose deployment is no hash are not in it, and pay nothing for it.
//   images_base   which images need an artifact.

import type { Migration } from "../migrate.ts";

export const images: Migration = {
  number: 3,
  name: "images",
  breaking: true,
  sql: `
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
CREATE INDEX images_base ON images (base);

CREATE TABLE image_bytes (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL,
  refs INTEGER NOT NULL,
  data ANY NOT NULL,
  UNIQUE (hash)
) STRICT;

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
CREATE INDEX runs_bundle ON runs (deployment) WHERE length(deployment) = 64;
`,
};
