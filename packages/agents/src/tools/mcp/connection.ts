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
import { tagged, taggedFetch } from "./message-meta.ts";
import { StdioTransport, type StdioServer } from "./stdio-transport.ts";

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
    const { transport, end } = transportOf(this.#server);
    const open: Open = { client: clientOf(transport), end, users: 0, forgotten: false };
    open.client.then(
      () => this.#forgetWhenLost(open, transport),
      () => this.#forget(open),
    );
    return open;
  }

  /** A server that ends while nobody asks is not found out by the next who does. */
  #forgetWhenLost(open: Open, transport: MCPClientConfig["transport"]): void {
    if (!("start" in transport)) return;
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

interface Transport {
  readonly transport: MCPClientConfig["transport"];
  readonly end: () => string | undefined;
}

function transportOf(server: McpServer): Transport {
  const none = (): undefined => undefined;
  if (typeof server === "function") return { transport: tagging(server()), end: none };
  if ("start" in server) return { transport: tagging(server), end: none };
  if ("url" in server) {
    const { url, headers, type = "http" } = server;
    const more = headers === undefined ? {} : { headers: { ...headers } };
    return { transport: { type, url, fetch: taggedFetch, ...more }, end: none };
  }
  const transport = new StdioTransport(server);
  return { transport, end: () => transport.end };
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
