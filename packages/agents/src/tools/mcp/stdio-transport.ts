// An MCP server as a child process: JSON-RPC, a line a message, over its standard input and output
// ================================================================================================
// P1. It does not keep this process alive while nothing is asked of it.
// P2. It ends with this process: its input closes, however this process ends, and it is told to terminate where that can be.
// P3. Of this process' environment it sees what a program needs to run, and none of its secrets.
// P4. Whatever it writes, at worst its own calls fail: answers that nobody waits for any more are not heard.
//
// `@ai-sdk/mcp` has such a transport too; it keeps the process alive, and says nothing of what the server wrote when it died.

import { spawn, type ChildProcess } from "node:child_process";
import { validateJSONRPCMessage, type MCPTransport } from "@ai-sdk/mcp";
import { tagged, type Message } from "./message-meta.ts";

export interface StdioServer {
  readonly command: string;
  readonly args?: readonly string[];
  /** Beside what every program gets: PATH, HOME and the like. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

const INHERITED = [
  ...["HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER"],
  ...["APPDATA", "LOCALAPPDATA", "PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "USERPROFILE"],
];
/** A server that does not end when its input closes is terminated, and then killed. */
const GRACE_MS = 1_000;
/** So much of what it wrote to its error output is shown when it dies. */
const ERROR_CHARS_MAX = 2_000;

export class StdioTransport implements MCPTransport {
  readonly supportsProtocolVersionDiscovery = true;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<MCPTransport["onmessage"]>;
  readonly #server: StdioServer;
  #child: ChildProcess | undefined;
  #line = "";
  #errors = "";
  readonly #unanswered: Set<string | number> = new Set();
  /** Why the server is no more. */
  #end: string | undefined;

  constructor(server: StdioServer) {
    this.#server = server;
  }

  /** What became of the server, and its last words. Undefined while it runs. */
  get end(): string | undefined {
    const said = this.#errors.trim();
    return this.#end === undefined || said === "" ? this.#end : `${this.#end}; it said: ${said}`;
  }

  start(): Promise<void> {
    const { command, args = [], cwd } = this.#server;
    const env = environment(this.#server.env);
    const child = spawn(command, args, {
      env,
      stdio: "pipe",
      windowsHide: true,
      ...(cwd === undefined ? {} : { cwd }),
    });
    this.#child = child;
    child.stdout.setEncoding("utf8").on("data", (text: string) => this.#read(text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#errors = (this.#errors + text).slice(-ERROR_CHARS_MAX);
    });
    child.stdin.on("error", (error) => this.onerror?.(error)); // It has ended: `close` follows.
    const stop = (): void => void child.kill();
    process.once("exit", stop); // P2
    child.once("close", (code, signal) => {
      process.removeListener("exit", stop);
      this.#end ??= `the server ended ${signal === null ? `with code ${code}` : `by ${signal}`}`;
      this.onclose?.();
    });
    this.#hold();
    return new Promise((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", (error) => {
        this.#end ??= `the server could not be started: ${error.message}`;
        reject(error);
      });
    });
  }

  send(message: Message, options?: { readonly signal?: AbortSignal }): Promise<void> {
    const stdin = this.#child?.stdin;
    if (stdin?.writable !== true) return Promise.reject(new Error(this.end ?? "the server is not running"));
    if ("method" in message && "id" in message && message.id !== undefined) this.#await(message.id, options?.signal);
    return new Promise((resolve, reject) => {
      stdin.write(`${JSON.stringify(tagged(message))}\n`, (error) => {
        if (error === null || error === undefined) resolve();
        else reject(error);
      });
    });
  }

  async close(): Promise<void> {
    const child = this.#child;
    if (child === undefined || this.#end !== undefined) return;
    this.#end = "the connection was closed";
    this.#unanswered.clear();
    const ended = new Promise<void>((resolve) => void child.once("close", () => resolve()));
    child.stdin?.end();
    const timers = [
      setTimeout(() => child.kill("SIGTERM"), GRACE_MS),
      setTimeout(() => child.kill("SIGKILL"), 2 * GRACE_MS),
    ];
    child.ref();
    await ended;
    for (const timer of timers) clearTimeout(timer);
  }

  #read(text: string): void {
    const lines = (this.#line + text).split("\n");
    this.#line = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "") this.#receive(line);
  }

  /** P4. */
  #receive(line: string): void {
    try {
      const message = validateJSONRPCMessage(JSON.parse(line));
      if (!("method" in message)) {
        if (message.id === undefined || !this.#unanswered.delete(message.id)) return;
        this.#hold();
      }
      this.onmessage?.(message);
    } catch (cause) {
      this.onerror?.(new Error(`the server wrote what cannot be understood: ${line.slice(0, 200)}`, { cause }));
    }
  }

  #await(id: string | number, signal: AbortSignal | undefined): void {
    this.#unanswered.add(id);
    this.#hold();
    signal?.addEventListener("abort", () => {
      if (!this.#unanswered.delete(id)) return;
      this.#hold();
      const params = { requestId: id, reason: "the call was given up" };
      this.send({ jsonrpc: "2.0", method: "notifications/cancelled", params }).catch(() => undefined); // It has ended.
    });
  }

  /** P1. */
  #hold(): void {
    const child = this.#child;
    if (child === undefined) return;
    const how = this.#unanswered.size > 0 ? "ref" : "unref";
    child[how]();
    for (const pipe of [child.stdin, child.stdout, child.stderr])
      (pipe as Partial<NodeJS.RefCounted> | null)?.[how]?.();
  }
}

/** P3. */
function environment(own: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const inherited = INHERITED.map((name) => [name, process.env[name]] as const);
  return { ...Object.fromEntries(inherited.filter(([, value]) => value !== undefined)), ...own };
}
