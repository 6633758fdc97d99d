// The command line as a process, run from its sources in a project of its own.

import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Io } from "../../src/cli/io.ts";
import { main } from "../../src/cli/main.ts";

const PACKAGE: string = fileURLToPath(new URL("../..", import.meta.url));
/** Without it every process would strip the types of two hundred files again. */
const COMPILED: string = join(PACKAGE, "..", "..", "node_modules", ".cache", "perdure", "compiled");
export const BIN: string = join(PACKAGE, "bin", "perdure.mjs");

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const WAIT_MS_MAX = 30_000;

/** A folder with files in it, in which `import … from "perdure"` is this package. */
export class Project {
  readonly folder: string = mkdtempSync(join(tmpdir(), "perdure-cli-"));
  readonly #running = new Set<Running>();

  constructor(files: Readonly<Record<string, string>> = {}) {
    mkdirSync(join(this.folder, "node_modules"));
    symlinkSync(PACKAGE, join(this.folder, "node_modules", "perdure"), "dir");
    writeFileSync(join(this.folder, "package.json"), '{ "type": "module" }\n');
    for (const [name, text] of Object.entries(files)) this.write(name, text);
  }

  write(name: string, text: string): string {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  start(...words: readonly string[]): Running {
    const running = new Running(this.folder, words);
    this.#running.add(running);
    return running;
  }

  run(...words: readonly string[]): Promise<Ended> {
    return this.start(...words).ended;
  }

  async close(): Promise<void> {
    for (const running of this.#running) await running.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export class Running {
  readonly ended: Promise<Ended>;
  readonly #process: ChildProcess;
  readonly #written = { out: "", err: "" };
  readonly #listeners = new Set<() => void>();

  constructor(cwd: string, words: readonly string[]) {
    const { npm_config_user_agent: _, FORCE_COLOR: __, ...env } = process.env;
    this.#process = spawn(process.execPath, ["--conditions=perdure-source", BIN, ...words], {
      cwd,
      env: { ...env, PERDURE_ADMIN: "", PERDURE_URL: "", PERDURE_TOKEN: "", NODE_COMPILE_CACHE: COMPILED },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const gather = (name: "out" | "err") => (chunk: Buffer) => {
      this.#written[name] += chunk.toString();
      for (const listener of this.#listeners) listener();
    };
    this.#process.stdout?.on("data", gather("out"));
    this.#process.stderr?.on("data", gather("err"));
    this.ended = new Promise((resolve) =>
      this.#process.on("close", (code) => {
        resolve({ code, ...this.#written });
        for (const listener of this.#listeners) listener();
      }),
    );
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  get out(): string {
    return this.#written.out;
  }

  get err(): string {
    return this.#written.err;
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** The first match in what was printed, after the first `from` characters of standard output. */
  async prints(pattern: RegExp, from = 0): Promise<RegExpExecArray> {
    const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>();
    const look = (): void => {
      const found = pattern.exec(this.out.slice(from)) ?? pattern.exec(this.err);
      if (found !== null) resolve(found);
      else if (this.#process.exitCode !== null || this.#process.signalCode !== null)
        reject(this.#inVain(pattern, "ended"));
    };
    this.#listeners.add(look);
    const timer = setTimeout(() => reject(this.#inVain(pattern, "time is over")), WAIT_MS_MAX);
    look();
    return promise.finally(() => {
      clearTimeout(timer);
      this.#listeners.delete(look);
    });
  }

  #inVain(pattern: RegExp, why: string): Error {
    return new Error(`${pattern.source} was not printed (${why})\n--- out\n${this.out}\n--- err\n${this.err}`);
  }

  async close(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) this.#process.kill("SIGKILL");
    await this.ended;
  }
}

export function silentIo(): Io {
  return ioInto({ out: "", err: "" }, {});
}

/** The command line in this process, as a pipe sees it. */
export async function typeHere(words: readonly string[], env: Io["env"] = {}): Promise<Ended> {
  const written = { out: "", err: "" };
  const code = await main(words, ioInto(written, env));
  return { code, ...written };
}

function ioInto(written: { out: string; err: string }, env: Io["env"]): Io {
  return {
    stdin: (async function* () {})(),
    stdout: { write: (text) => (written.out += String(text)) },
    stderr: { write: (text) => (written.err += String(text)) },
    env,
    cwd: tmpdir(),
    now: Date.now,
    interrupted: new AbortController().signal,
    onStop: () => () => undefined,
  };
}

/** Runs until `close` is called; the port is taken for as long. */
export async function takePort(): Promise<{ readonly port: number; close(): Promise<void> }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return { port, close: () => new Promise((resolve) => server.close(() => resolve())) };
}

/** An older Node on this machine, if there is one. */
export function findOldNode(): string | undefined {
  for (const candidate of ["/usr/bin/node", "/usr/local/bin/node"]) {
    const { status, stdout } = spawnSync(candidate, ["-p", "process.versions.node"], { encoding: "utf8" });
    if (status === 0 && Number.parseInt(stdout, 10) < 24) return candidate;
  }
  return undefined;
}
