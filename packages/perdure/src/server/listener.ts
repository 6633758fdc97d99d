// A listener: Node's HTTP server with the guard before Fastify's router
// =====================================================================
//   new ─▶ listening ─▶ draining ─▶ closed
//
// Draining: what comes in on connections that are still open is answered 503, what is being answered may finish.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import fastify, { type FastifyInstance, type FastifyServerOptions } from "fastify";
import { ShuttingDownError } from "@perdure/protocol";
import { BODY_BYTES_MAX, type HttpOptions, type Traffic } from "./context.ts";
import { ErrorAnswers, RequestError } from "./errors.ts";
import { Guard, type IsOpen } from "./guard.ts";
import { tooLarge } from "./body.ts";

/** Longer than the idle time of the usual load balancers (60 s): they close first, and no request falls in between. */
const KEEP_ALIVE_MS = 72_000;
const HEADERS_MS = 60_000;
/** For sending a request, 32 MiB over a slow line included. Answers may take as long as runs do. */
const REQUEST_MS = 300_000;
/** A key may be long, and is longer when it is URL-encoded. */
const PARAM_LENGTH_MAX = 8_192;
const CLOSE_EVERY_MS = 50;

/** What the listener puts around an app. */
export interface Listener {
  readonly app: FastifyInstance;
  readonly answers: ErrorAnswers;
  readonly traffic: Traffic;
  /** The address is known only when it is bound; the guard goes by it. */
  guardFor(host: string): void;
  /** From now on what comes in is refused; resolves when all that is being answered is out, or after `graceMs`. */
  drain(graceMs: number): Promise<void>;
  /** Called when draining begins: streams end here. */
  onDrain(callback: () => void): void;
}

const LISTENER: unique symbol = Symbol("perdure.listener");

export function listenerOf(app: FastifyInstance): Listener {
  const listener = (app as { readonly [LISTENER]?: Listener })[LISTENER];
  if (listener === undefined) throw new TypeError("the app was not made by createIngress() or createAdmin()");
  return listener;
}

class NodeListener {
  readonly answers: ErrorAnswers;
  readonly traffic: Traffic;
  readonly #options: HttpOptions;
  readonly #isOpen: IsOpen | undefined;
  readonly #drainers: (() => void)[] = [];
  #guard: Guard;
  #server: Server | null = null;
  #draining = false;

  constructor(options: HttpOptions, traffic: Traffic, isOpen: IsOpen | undefined) {
    this.#options = options;
    this.#isOpen = isOpen;
    this.traffic = traffic;
    this.answers = new ErrorAnswers(traffic, options.onError);
    this.#guard = new Guard("127.0.0.1", options, isOpen);
  }

  serve(route: (req: IncomingMessage, res: ServerResponse) => void): Server {
    const { traffic } = this;
    const options = {
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      requireHostHeader: false,
    };
    const server = createServer(options, (req, res) => {
      traffic.requests += 1;
      const refusal = this.#draining ? this.#closing(res) : this.#guard.refusal(req);
      if (refusal === null) route(req, res);
      else this.answers.send(req, res, refusal);
    });
    server.on("checkContinue", (req: IncomingMessage, res: ServerResponse) => {
      if (Number(req.headers["content-length"]) > BODY_BYTES_MAX) this.answers.send(req, res, tooLarge());
      else {
        res.writeContinue();
        server.emit("request", req, res);
      }
    });
    server.on("checkExpectation", (req: IncomingMessage, res: ServerResponse) => {
      this.answers.send(req, res, new RequestError(417, `"${String(req.headers.expect)}" cannot be expected here`));
    });
    server.on("clientError", answerBrokenRequest);
    this.#server = server;
    return server;
  }

  guardFor(host: string): void {
    this.#guard = new Guard(host, this.#options, this.#isOpen);
  }

  onDrain(callback: () => void): void {
    this.#drainers.push(callback);
  }

  async drain(graceMs: number): Promise<void> {
    const server = this.#server;
    if (server === null || this.#draining) return;
    this.#draining = true;
    for (const callback of this.#drainers) callback();
    if (!server.listening) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    // Connections that fall idle after an answer are not noticed by close().
    const sweep = setInterval(() => server.closeIdleConnections(), CLOSE_EVERY_MS);
    let timer: NodeJS.Timeout | undefined;
    const grace = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMs);
    });
    await Promise.race([closed, grace]);
    clearTimeout(timer);
    clearInterval(sweep);
  }

  #closing(res: ServerResponse): ShuttingDownError {
    res.setHeader("connection", "close");
    return new ShuttingDownError("the server is shutting down; try again in a moment");
  }
}

/** What Node's parser refuses never becomes a request; it is answered by hand, in the shape of all errors. */
function answerBrokenRequest(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, reason] = brokenStatus(error.code);
  const body = JSON.stringify({
    error: { code: RequestError.code, message: `the request cannot be read as HTTP: ${error.message}`, status },
  });
  const head = `HTTP/1.1 ${status} ${reason}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`;
  socket.end(head + body);
}

function brokenStatus(code: string | undefined): readonly [number, string] {
  if (code === "HPE_HEADER_OVERFLOW") return [431, "Request Header Fields Too Large"];
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return [408, "Request Timeout"];
  return [400, "Bad Request"];
}

/** A Fastify app behind a guard, whose errors are all in one shape. */
export function createApp(
  options: HttpOptions,
  traffic: Traffic,
  fastifyOptions: FastifyServerOptions = {},
  isOpen?: IsOpen,
): FastifyInstance {
  const listener = new NodeListener(options, traffic, isOpen);
  const app = fastify({
    ...fastifyOptions,
    logger: false,
    exposeHeadRoutes: false,
    bodyLimit: BODY_BYTES_MAX,
    routerOptions: { maxParamLength: PARAM_LENGTH_MAX },
    serverFactory: (handler) => listener.serve(handler),
    frameworkErrors: (error, request, reply) => {
      reply.hijack();
      listener.answers.send(request.raw, reply.raw, error);
    },
  });
  app.setErrorHandler((error, request, reply) => {
    reply.hijack();
    listener.answers.send(request.raw, reply.raw, error);
  });
  const surface: Listener = {
    app,
    answers: listener.answers,
    traffic,
    guardFor: (host) => listener.guardFor(host),
    drain: (graceMs) => listener.drain(graceMs),
    onDrain: (callback) => listener.onDrain(callback),
  };
  Object.defineProperty(app, LISTENER, { value: surface });
  return app;
}
