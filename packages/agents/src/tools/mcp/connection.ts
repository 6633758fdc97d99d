// The connection to an MCP server, shared by everything in this process
// =====================================================================
//
//   none ──▶ connecting ──▶ open ──▶ forgotten ──▶ closed         forgotten: somebody still waits for an answer of it
//     ▲           │ failed    │ lost, or nobody asked for a while
//     └───────────┴───────────┘
//
// C1. Whoever asks while there is none makes one, and whoever asks meanwhile waits for the same.
// C2. An error that is neither the server's answer nor the caller's own doing makes the connection forgotten: the next one
//     who asks gets a new one.
// C3. It is closed when nobody uses it any more, and after a while in which nobody asked.

import { createMCPClient, MCPClientError, type MCPClient, type MCPClientConfig, type MCPTransport } from "@ai-sdk/mcp";
import { isPerdureError } from "@perdure/protocol";
import { tagged, taggedFetch } from "./message-meta.ts";
import type { StdioServer, StdioTransport } from "./stdio-transport.ts";

export interface HttpServer {
  /** `https://…/mcp` */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** `sse` for servers of before 2025. Default: `http` (streamable HTTP). */
  readonly type?: "http" | "sse";
}

/** A server to start, one to call, or a transport of one's own: as a function it can be made again after it broke. */
export type McpServer = StdioServer | HttpServer | MCPTransport | (() => MCPTransport);

/** The server could not be reached: nothing was asked of it. */
export class ConnectError extends Error {
  override readonly name = "ConnectError";
}

interface Open {
  readonly client: Promise<MCPClient>;
  /** What became of a server that is a child process. */
  readonly end: () => string | undefined;
  users: number;
  forgotten: boolean;
}

const CONNECT_MS = 30_000;
const IDLE_MS = 60_000;

export class Connection {
  readonly #server: McpServer;
  #open: Open | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(server: McpServer) {
    this.#server = server;
  }

  /**
   * @param signal the caller's: what it ends says nothing of the connection.
   * @throws ConnectError, or what `ask` rejects with.
   */
  async use<T>(signal: AbortSignal, ask: (client: MCPClient) => Promise<T>): Promise<T> {
    clearTimeout(this.#idle);
    const open = (this.#open ??= this.#connect());
    open.users += 1;
    try {
      return await ask(await connected(open));
    } catch (error) {
      if (!isAnswer(error) && !signal.aborted) this.#forget(open); // C2
      throw withEnd(error, open.end());
    } finally {
      open.users -= 1;
      this.#closeUnused(open);
      this.#waitIdle();
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const open = this.#open;
    if (open === undefined) return;
    this.#forget(open);
    await closeClient(open);
  }

  #connect(): Open {
    const made = transportOf(this.#server);
    let program: StdioTransport | undefined;
    const client = made.then(async (transport) => {
      if ("end" in transport) program = transport;
      const ready = await clientOf(transport);
      if ("start" in transport) this.#forgetWhenLost(open, transport);
      return ready;
    });
    const open: Open = { client, end: () => program?.end, users: 0, forgotten: false };
    client.catch(() => this.#forget(open));
    return open;
  }

  /** A server that ends while nobody asks is not found out by the next who does. */
  #forgetWhenLost(open: Open, transport: MCPTransport): void {
    const { onclose } = transport;
    transport.onclose = () => {
      onclose?.();
      this.#forget(open);
    };
  }

  #forget(open: Open): void {
    open.forgotten = true;
    if (this.#open === open) this.#open = undefined;
  }

  /** C3. */
  #closeUnused(open: Open): void {
    if (open.forgotten && open.users === 0) void closeClient(open);
  }

  #waitIdle(): void {
    clearTimeout(this.#idle);
    if (this.#open === undefined || this.#open.users > 0) return;
    this.#idle = setTimeout(() => void this.close(), IDLE_MS);
    this.#idle.unref();
  }
}

async function connected(open: Open): Promise<MCPClient> {
  try {
    return await open.client;
  } catch (cause) {
    if (isPerdureError(cause)) throw cause; // The server was never the reason.
    throw new ConnectError((cause as Error).message, { cause });
  }
}

/** The server is there and has answered, be it with an error. */
function isAnswer(error: unknown): boolean {
  return MCPClientError.isInstance(error) && error.code !== undefined;
}

/** A process that died says more than the connection that broke. */
function withEnd(error: unknown, end: string | undefined): unknown {
  if (end === undefined || isAnswer(error)) return error;
  return error instanceof ConnectError
    ? new ConnectError(end, { cause: error.cause })
    : new Error(end, { cause: error });
}

async function closeClient(open: Open): Promise<void> {
  try {
    await (await open.client).close();
  } catch {
    // It is broken already, which is why it is closed.
  }
}

type Transport = Exclude<MCPClientConfig["transport"], MCPTransport> | MCPTransport | StdioTransport;

async function transportOf(server: McpServer): Promise<Transport> {
  if (typeof server === "function") return tagging(server());
  if ("start" in server) return tagging(server);
  if ("url" in server) {
    const { url, headers, type = "http" } = server;
    return { type, url, fetch: taggedFetch, ...(headers === undefined ? {} : { headers: { ...headers } }) };
  }
  const { StdioTransport: Program } = await import("./stdio-transport.ts"); // Node's, and not needed by those who start none.
  return new Program(server);
}

function tagging(transport: MCPTransport): MCPTransport {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => send(tagged(message), options);
  return transport;
}

function clientOf(transport: MCPClientConfig["transport"]): Promise<MCPClient> {
  return createMCPClient({
    transport,
    clientName: "perdure",
    initializationOptions: { timeout: CONNECT_MS },
    onUncaughtError: () => undefined, // What breaks a call, the call is told.
  });
}
