// The files of a data directory.
//
//   perdure.db, -wal, -shm   the database, its write-ahead log and the log's index
//   perdure.lock             a database of its own whose lock says that a process has the directory open
//   perdure.owner.json       who that is, and whether it got as far as writing
//   blobs/                   large payloads

import { join } from "node:path";

export interface Layout {
  readonly directory: string;
  readonly database: string;
  readonly wal: string;
  readonly lock: string;
  readonly owner: string;
  readonly blobs: string;
}

export function layoutOf(directory: string): Layout {
  const database = join(directory, "perdure.db");
  return {
    directory,
    database,
    wal: `${database}-wal`,
    lock: join(directory, "perdure.lock"),
    owner: join(directory, "perdure.owner.json"),
    blobs: join(directory, "blobs"),
  };
}
