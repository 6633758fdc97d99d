// Binding an app to an address: refused without credentials where others could reach it, and moved or refused where
// somebody else has the port.

import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { PortTakenError } from "@perdure/protocol";
import { checkBinding } from "./guard.ts";
import { listenerOf } from "./listener.ts";
import { findPortHolder } from "./port-holder.ts";

export interface ListenOptions {
  readonly host?: string;
  /** 0: any free one. */
  readonly port: number;
  /** A taken port: take one of the next twenty (`next`), or refuse (`fail`). */
  readonly onTaken?: "next" | "fail";
  readonly token?: string;
}

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  readonly url: string;
  /** The port that was asked for was taken. */
  readonly moved: boolean;
}

export const HOST_DEFAULT = "127.0.0.1";
const NEXT_PORTS = 20;
const PORT_MAX = 65_535;

/** @throws BindRefusedError, PortTakenError, or Node's error where the address is none of this machine's. */
export async function listen(app: FastifyInstance, options: ListenOptions): Promise<ListenAddress> {
  const { host = HOST_DEFAULT, port, onTaken = "fail" } = options;
  checkBinding(host, options.token);
  listenerOf(app).guardFor(host);
  await app.ready();
  const last = onTaken === "next" && port !== 0 ? Math.min(port + NEXT_PORTS, PORT_MAX) : port;
  for (let candidate = port; candidate <= last; candidate += 1) {
    const bound = await bind(app, host, candidate);
    if (bound !== undefined) return { host, port: bound, url: urlOf(host, bound), moved: port !== 0 && bound !== port };
  }
  throw await portTaken(host, port, last);
}

/** Undefined where the port is taken. */
function bind(app: FastifyInstance, host: string, port: number): Promise<number | undefined> {
  const { server } = app;
  return new Promise((resolve, reject) => {
    const failed = (error: Error & { readonly code?: string }): void => {
      server.off("listening", bound);
      if (error.code === "EADDRINUSE") resolve(undefined);
      else reject(error);
    };
    const bound = (): void => {
      server.off("error", failed);
      resolve((server.address() as AddressInfo).port);
    };
    server.once("error", failed);
    server.once("listening", bound);
    server.listen({ host, port });
  });
}

async function portTaken(host: string, port: number, last: number): Promise<PortTakenError> {
  const holder = await findPortHolder(port);
  const who =
    holder === undefined
      ? "another process"
      : holder.pid === process.pid
        ? "this very process"
        : `process ${holder.pid} (${holder.command})`;
  const what =
    last > port
      ? `the ports ${port} to ${last} on ${host} are all taken, the first by ${who}`
      : `port ${port} on ${host} is taken by ${who}`;
  const end = holder === undefined || holder.pid === process.pid ? "end it" : `end it (kill ${holder.pid})`;
  return new PortTakenError(`${what}: ${end}, or choose another port`, {
    metadata: {
      port: String(port),
      ...(holder === undefined ? {} : { pid: String(holder.pid), command: holder.command }),
    },
  });
}

/** A wildcard address is reached under a name of this machine. */
function urlOf(host: string, port: number): string {
  const name = host === "0.0.0.0" || host === "::" ? "localhost" : host.includes(":") ? `[${host}]` : host;
  return `http://${name}:${port}`;
}
