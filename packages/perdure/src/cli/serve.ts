// The seam between the command line and the server: the only file under cli/ that knows serve().

import { resolve } from "node:path";
import type { GuardMode } from "@perdure/host";
import type { ServiceManifest } from "@perdure/protocol";
import type { Servable } from "@perdure/sdk";
import { serve } from "../serve.ts";

/** What was asked for on the command line. Plain data: it crosses to the child process of `dev`. */
export interface ServeOptions {
  /** As they were named, relative to `cwd`. */
  readonly files: readonly string[];
  readonly cwd: string;
  readonly data: string;
  readonly host: string;
  readonly port: number;
  readonly adminHost: string;
  readonly adminPort: number;
  readonly token: string | undefined;
  readonly retentionMs: number | undefined;
  readonly maxLive: number | undefined;
  /** How long running steps may take to finish at the end. */
  readonly graceMs: number;
  readonly mode: "dev" | "start";
  /** What happens on an effect outside of a step, under `dev`. */
  readonly guard: GuardMode | undefined;
}

/** What came of it. Plain data as well. */
export interface Served {
  readonly ingressUrl: string;
  readonly adminUrl: string;
  readonly services: readonly ServiceManifest[];
  readonly dataDirectory: string;
}

export interface Server {
  readonly served: Served;
  close(graceMs: number): Promise<void>;
}

export async function startServer(options: ServeOptions, definitions: readonly Servable[]): Promise<Server> {
  outliveRejections();
  const server = await serve({
    definitions,
    data: options.data,
    ingress: { host: options.host, port: options.port },
    admin: { host: options.adminHost, port: options.adminPort },
    onTaken: options.mode === "dev" ? "next" : "fail",
    mode: options.mode,
    sources: options.files.map((file) => resolve(options.cwd, file)),
    ...(options.guard === undefined ? {} : { guard: options.guard }),
    ...(options.retentionMs === undefined ? {} : { retentionMs: options.retentionMs }),
    ...(options.maxLive === undefined ? {} : { limits: { attemptsLiveMax: options.maxLive } }),
    ...(options.token === undefined ? {} : { token: options.token }),
  });
  const { ingressUrl, adminUrl, services, dataDirectory } = server;
  return { served: { ingressUrl, adminUrl, services, dataDirectory }, close: (graceMs) => server.close(graceMs) };
}

/**
 * A promise that a handler made, never awaited, and that was rejected: the mistake of one handler. It is reported, and does
 * not end the process with everybody else's runs in it.
 */
function outliveRejections(): void {
  process.on("unhandledRejection", (reason) => {
    const text = reason instanceof Error ? (reason.stack ?? reason.message) : String(reason);
    process.stderr.write(
      `perdure: a promise was rejected and nobody awaited it (await what a handler starts, or catch it): ${text}\n`,
    );
  });
}
