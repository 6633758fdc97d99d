// A real runtime in a process of its own: the command line, from its sources, on free ports, over a scratch data folder. It can
// be killed, and started again over what the kill has left, under the same address.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Line } from "./line.ts";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const BIN = join(ROOT, "packages", "perdure", "bin", "perdure.mjs");
/** The research example, as `npm start` serves it. */
export const RESEARCH: string = join(ROOT, "examples", "research", "src", "main.ts");
/** Handlers that wait, fail, branch and say whatever they are told to. */
export const DESK: string = fileURLToPath(new URL("./desk.ts", import.meta.url));
/** One that is remembered by images. */
export const KEEPER: string = fileURLToPath(new URL("./keeper.ts", import.meta.url));
const KEPT_ERROR_CHARS = 8_000;

export interface ServerOptions {
  readonly files: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  readonly token?: string;
}

export class Server {
  /** Of the admin listener, where the cockpit is; it stays. */
  readonly url: string;
  readonly ingress: string;
  readonly folder: string;
  readonly #options: ServerOptions;
  readonly #lines: { readonly admin: Line; readonly ingress: Line };
  #child: ChildProcess | null = null;
  #said = "";

  private constructor(options: ServerOptions, lines: { readonly admin: Line; readonly ingress: Line }) {
    this.#options = options;
    this.#lines = lines;
    this.url = lines.admin.url;
    this.ingress = lines.ingress.url;
    this.folder = mkdtempSync(join(tmpdir(), "perdure-browser-"));
  }

  static async start(options: ServerOptions): Promise<Server> {
    const [admin, ingress] = await Promise.all([Line.open(), Line.open()]);
    const server = new Server(options, { admin, ingress });
    await server.startAgain();
    return server;
  }

  /** Over the data that is there. */
  async startAgain(): Promise<void> {
    const { files, env = {}, args = [], token } = this.#options;
    const words = [
      "start",
      ...files,
      "--data",
      join(this.folder, "store"),
      "--port",
      "0",
      "--admin-port",
      "0",
      "--json",
    ];
    const child = spawn(process.execPath, ["--conditions=perdure-source", "--no-warnings", BIN, ...words, ...args], {
      cwd: ROOT,
      env: {
        ...withoutOthers(),
        RESEARCH_DATA: join(this.folder, "research"),
        ...(token === undefined ? {} : { PERDURE_TOKEN: token }),
        ...env,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    const end = (): void => void child.kill("SIGKILL"); // Whatever ends the tests, nothing stays behind.
    process.once("exit", end);
    child.once("exit", () => process.off("exit", end));
    child.stderr.on("data", (chunk: Buffer) => {
      this.#said = (this.#said + chunk.toString()).slice(-KEPT_ERROR_CHARS);
    });
    const { admin, ingress } = await listening(child, () => this.#said);
    this.#lines.admin.up(Number(new URL(admin).port));
    this.#lines.ingress.up(Number(new URL(ingress).port));
  }

  /** In order: with its data as a whole in one file. */
  stop(): Promise<void> {
    return this.#end("SIGTERM");
  }

  /** kill -9, and until the process is gone. */
  kill(): Promise<void> {
    return this.#end("SIGKILL");
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill(signal);
    await gone;
    this.#lines.admin.down();
    this.#lines.ingress.down();
  }

  async close(): Promise<void> {
    await this.kill();
    await Promise.all([this.#lines.admin.close(), this.#lines.ingress.close()]);
    rmSync(this.folder, { recursive: true, force: true });
  }

  // What a test asks of it beside the page
  // --------------------------------------

  get<Answer>(path: string): Promise<Answer> {
    return this.#ask(`${this.url}${path}`);
  }

  post<Answer>(path: string, body?: unknown): Promise<Answer> {
    return this.#ask(`${this.url}${path}`, body ?? null);
  }

  patch<Answer>(path: string, body: unknown): Promise<Answer> {
    return this.#ask(`${this.url}${path}`, body, "PATCH");
  }

  /** Starts a run, and gives its id. */
  async send(path: string, input?: unknown): Promise<string> {
    return (await this.#ask<{ readonly runId: string }>(`${this.ingress}/${path}/send`, input ?? null)).runId;
  }

  /** Its result, when it has ended. */
  call<Answer>(path: string, input?: unknown): Promise<Answer> {
    return this.#ask(`${this.ingress}/${path}`, input ?? null);
  }

  async statusOf(run: string): Promise<string> {
    return (await this.get<{ readonly run: { readonly status: string } }>(`/runs/${run}`)).run.status;
  }

  async #ask<Answer>(url: string, body?: unknown, method = body === undefined ? "GET" : "POST"): Promise<Answer> {
    const { token } = this.#options;
    const response = await fetch(url, {
      method,
      headers: {
        "content-type": "application/json",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(body === undefined || body === null ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`);
    return (text === "" ? null : JSON.parse(text)) as Answer;
  }
}

/** The runtime of whoever runs the tests, its keys and its settings are none of theirs. */
function withoutOthers(): Record<string, string> {
  const mine = /^(?:PERDURE_|RESEARCH_|OPENAI_|ANTHROPIC_|VITEST|NODE_OPTIONS$|FORCE_COLOR$)/;
  const kept = Object.entries(process.env).filter(([name]) => !mine.test(name));
  return {
    ...(Object.fromEntries(kept) as Record<string, string>),
    NODE_COMPILE_CACHE: join(ROOT, "node_modules", ".cache", "perdure", "compiled"),
  };
}

interface Listening {
  readonly ingress: string;
  readonly admin: string;
}

async function listening(child: ChildProcess, said: () => string): Promise<Listening> {
  if (child.stdout === null) throw new Error("the server has no output to read");
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith("{")) continue;
    const told = JSON.parse(line) as Listening & { readonly type: string };
    if (told.type !== "listening") continue;
    child.stdout.resume(); // What else it says is not read, and must not stop it.
    return told;
  }
  throw new Error(`the server ended before it listened: ${said()}`);
}
