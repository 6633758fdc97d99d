// Both listeners of a runtime, started and ended together
// =======================================================
//   new ─▶ serving ─▶ draining ─▶ closed
//
// Draining: nothing new is taken; what is being answered may finish for a part of the grace, and running steps for the
// rest. Callers of runs that go on longer (a run may sleep for weeks) get 503, and find their run again by its id.

import type { FastifyInstance } from "fastify";
import type { Runtime } from "@perdure/host";
import { createAdmin } from "./admin.ts";
import type { AdminOptions, IngressOptions, ServedRuntime } from "./context.ts";
import { checkBinding } from "./guard.ts";
import { createIngress } from "./ingress.ts";
import { HOST_DEFAULT, listen, type ListenAddress } from "./listen.ts";
import { listenerOf } from "./listener.ts";

export interface AddressOptions {
  readonly host?: string;
  readonly port?: number;
}

export interface ServerOptions extends Omit<IngressOptions, "adminUrl">, Omit<AdminOptions, "traffic"> {
  /** Started already; the server closes it. */
  readonly runtime: ServedRuntime & Pick<Runtime, "close">;
  readonly ingress?: AddressOptions;
  readonly admin?: AddressOptions;
  readonly onTaken?: "next" | "fail";
}

export interface ServerAddresses {
  readonly ingress: ListenAddress;
  readonly admin: ListenAddress;
}

export interface Server {
  readonly ingress: FastifyInstance;
  readonly admin: FastifyInstance;
  /** @throws BindRefusedError, PortTakenError; nothing listens then. */
  start(): Promise<ServerAddresses>;
  /** Null before `start`. */
  readonly addresses: ServerAddresses | null;
  /** Closes the runtime, too. */
  close(graceMs: number): Promise<void>;
}

const INGRESS_PORT = 8080;
const ADMIN_PORT = 9070;
/** Share of the grace that answers under way have, before the runtime begins to stop. */
const ANSWERS_SHARE = 0.6;
/** For the last answers to leave. */
const FLUSH_MS = 200;

export function createServer(options: ServerOptions): Server {
  return new TwoListeners(options);
}

class TwoListeners implements Server {
  readonly ingress: FastifyInstance;
  readonly admin: FastifyInstance;
  addresses: ServerAddresses | null = null;
  readonly #options: ServerOptions;
  #closing: Promise<void> | null = null;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.ingress = createIngress(options.runtime, { ...options, adminUrl: () => this.addresses?.admin.url });
    this.admin = createAdmin(options.runtime, { ...options, traffic: [listenerOf(this.ingress).traffic] });
  }

  async start(): Promise<ServerAddresses> {
    const { ingress = {}, admin = {}, onTaken = "fail", token } = this.#options;
    const common = { onTaken, ...(token === undefined ? {} : { token }) };
    // Both are checked before either listens.
    checkBinding(ingress.host ?? HOST_DEFAULT, token);
    checkBinding(admin.host ?? HOST_DEFAULT, token);
    const first = await listen(this.ingress, {
      ...common,
      host: ingress.host ?? HOST_DEFAULT,
      port: ingress.port ?? INGRESS_PORT,
    });
    try {
      const second = await listen(this.admin, {
        ...common,
        host: admin.host ?? HOST_DEFAULT,
        port: admin.port ?? ADMIN_PORT,
      });
      this.addresses = { ingress: first, admin: second };
      return this.addresses;
    } catch (error) {
      this.ingress.server.close();
      throw error;
    }
  }

  close(graceMs: number): Promise<void> {
    this.#closing ??= this.#close(graceMs);
    return this.#closing;
  }

  async #close(graceMs: number): Promise<void> {
    const began = Date.now();
    const apps = [this.ingress, this.admin];
    await Promise.all(apps.map((app) => listenerOf(app).drain(graceMs * ANSWERS_SHARE)));
    await this.#options.runtime.close(Math.max(0, graceMs - (Date.now() - began)));
    await Promise.all(apps.map((app) => this.#end(app)));
  }

  /** Whoever still waited has been told by the runtime's end; that leaves, then the connections are cut. */
  async #end(app: FastifyInstance): Promise<void> {
    const { server } = app;
    const sweep = setInterval(() => server.closeIdleConnections(), 10);
    const cut = setTimeout(() => server.closeAllConnections(), FLUSH_MS);
    await new Promise<void>((resolve) => {
      if (server.listening) server.close(() => resolve());
      else server.getConnections((_, count) => (count === 0 ? resolve() : server.once("close", () => resolve())));
    });
    clearInterval(sweep);
    clearTimeout(cut);
    await app.close();
  }
}
