// A small MCP server for tests, over standard input and output (run as a program) or streamable HTTP. It is written by hand,
// since what is tested are servers that die, forget and hang: those that one can install do not.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: {
    readonly protocolVersion?: string;
    readonly name?: string;
    readonly arguments?: Readonly<Record<string, unknown>>;
    readonly _meta?: Readonly<Record<string, unknown>>;
  };
}

const object = (properties: object): object => ({ type: "object", properties });
const hints = (readOnlyHint: boolean): object => ({ annotations: { readOnlyHint } });

interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: object;
  readonly annotations?: object;
}

export const TOOLS: readonly Tool[] = [
  { name: "echo", description: "Says it again.", inputSchema: object({ text: { type: "string" } }), ...hints(true) },
  { name: "note", description: "Writes it down.", inputSchema: object({ text: { type: "string" } }), ...hints(false) },
  { name: "refuse", description: "Cannot.", inputSchema: object({}) },
  { name: "crash", description: "Never answers a first time.", inputSchema: object({}) },
  { name: "hang", description: "Never answers.", inputSchema: object({}) },
  { name: "issues.list/all", description: "A name that providers do not take.", inputSchema: object({}) },
];

/** What a server knows and does. */
export class Core {
  tools: readonly Tool[] = TOOLS;
  /** Calls of tools, with what came along. */
  readonly calls: { readonly name: string; readonly meta: unknown }[] = [];
  initialized = 0;

  /** `undefined`: no answer; `crash`: and the server is gone. */
  answer({ id, method, params }: Message): object | "crash" | undefined {
    if (id === undefined) return undefined;
    const result = (value: object): object => ({ jsonrpc: "2.0", id, result: value });
    const error = (code: number, message: string): object => ({ jsonrpc: "2.0", id, error: { code, message } });
    switch (method) {
      case "initialize": {
        this.initialized += 1;
        const serverInfo = { name: "test", version: "1" };
        return result({ protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo });
      }
      case "tools/list":
        return result({ tools: this.tools });
      case "tools/call": {
        const { name = "", arguments: input = {}, _meta: meta } = params ?? {};
        this.calls.push({ name, meta });
        const text = (value: string, more: object = {}): object =>
          result({ content: [{ type: "text", text: value }], ...more });
        if (name === "echo") return text(String(input["text"]));
        if (name === "note")
          return text("noted", {
            structuredContent: { noted: input["text"], input: Object.keys(input), pid: process.pid, meta },
          });
        if (name === "refuse") return text("there is no paper", { isError: true });
        if (name === "hang") return undefined;
        if (name === "crash")
          return this.calls.filter((call) => call.name === "crash").length > 1 ? text("well") : "crash";
        return error(-32602, `there is no tool ${name}`);
      }
      default:
        return error(-32601, `there is no method ${method}`);
    }
  }
}

export interface HttpMcpServer extends AsyncDisposable {
  readonly url: string;
  readonly core: Core;
  /** Sessions that it knows: to be cleared, as a restart does. */
  readonly sessions: Set<string>;
  /** Answers every request with this status. */
  status: number | undefined;
}

export async function startHttpServer(): Promise<HttpMcpServer> {
  const core = new Core();
  const sessions = new Set<string>();
  const server = createServer((request, response) => void handle(request, response));
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await textOf(request);
    if (started.status !== undefined) return void response.writeHead(started.status).end();
    if (request.method !== "POST") return void response.writeHead(405).end();
    const message = JSON.parse(body) as Message;
    const session = request.headers["mcp-session-id"];
    if (message.method === "initialize") {
      const id = `s${sessions.size + 1}-${core.initialized}`;
      sessions.add(id);
      response.setHeader("mcp-session-id", id);
    } else if (typeof session === "string" && !sessions.has(session)) return void response.writeHead(404).end();
    const answer = core.answer(message);
    if (answer === "crash") request.socket.destroy();
    else if (answer !== undefined) response.setHeader("content-type", "application/json").end(JSON.stringify(answer));
    else if (message.id === undefined) response.writeHead(202).end();
  };
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const started: HttpMcpServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    core,
    sessions,
    status: undefined,
    [Symbol.asyncDispose]: () => {
      server.closeAllConnections();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
  return started;
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk as string;
  return text;
}

/** As a program. */
function serveStdio(): void {
  const core = new Core();
  if (process.env["MCP_FAILS"] !== undefined) {
    process.stderr.write("no configuration was found\n");
    process.exit(3);
  }
  if (process.env["MCP_STUBBORN"] !== undefined) setInterval(() => undefined, 1_000); // It does not end with its input.
  createInterface({ input: process.stdin }).on("line", (line) => {
    const answer = core.answer(JSON.parse(line) as Message);
    if (answer === "crash") process.exit(7);
    if (process.env["MCP_NOISY"] !== undefined)
      process.stdout.write(
        'no message\n{"jsonrpc":"2.0","id":99,"result":{}}\n{"jsonrpc":"2.0","method":"surprise"}\nnull\n',
      );
    if (answer !== undefined) process.stdout.write(`${JSON.stringify(answer)}\n`);
  });
}

if (process.argv[1] === import.meta.filename) serveStdio();
