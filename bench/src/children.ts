// Children
// ========
// Everything that a benchmark leaves on the machine while it runs: child processes and temporary directories.
//
// C1. Whatever ends this process (success, a thrown error, SIGINT, SIGTERM), no child and no directory stays.
// C2. Only processes that were started here are ended, each by its own id.
//
// The last resort is synchronous, in the `exit` event, so that it needs no event loop and cannot be raced by the exit
// handlers of libraries.

import { type ChildProcess, type ForkOptions, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Child {
  readonly name: string;
  readonly process: ChildProcess;
  /** The end of what it wrote, for error messages. */
  output(): string;
  stop(): Promise<void>;
}

/** Process id and the signal that ends it quickly but cleanly. */
const running = new Map<number, NodeJS.Signals>();
const directories = new Set<string>();

const stopMsMax = 5_000;
const outputCharsMax = 8_000;

process.on("exit", () => {
  for (const [pid, signal] of running) {
    signalPid(pid, "SIGCONT");
    signalPid(pid, signal);
  }
  const deadline = Date.now() + stopMsMax;
  const clock = new Int32Array(new SharedArrayBuffer(4));
  // Ended children stay zombies here (no event loop reaps them), so wait for the state, not for the id to vanish.
  while (running.size > 0 && Date.now() < deadline) {
    for (const pid of running.keys()) if (!isRunning(pid)) running.delete(pid);
    if (running.size > 0) Atomics.wait(clock, 0, 0, 20);
  }
  for (const pid of running.keys()) signalPid(pid, "SIGKILL");
  for (const path of directories) rmSync(path, { recursive: true, force: true, maxRetries: 5 });
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => process.exit(130));
}

/** Keeps `pid` on the list of what must not outlive this process. */
export function guard(pid: number, signal: NodeJS.Signals): void {
  running.set(pid, signal);
}

export function release(pid: number): void {
  running.delete(pid);
}

/** A fresh directory that other users may enter (Postgres runs as its own user). */
export function temporaryDirectory(label: string): string {
  const path = mkdtempSync(join(tmpdir(), `perdure-bench-${label}-`));
  chmodSync(path, 0o755);
  directories.add(path);
  return path;
}

export function removeDirectory(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 5 });
  directories.delete(path);
}

/** Ports that were free a moment ago; all held at once, so that they differ. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

/** Starts a program in its own process group, so that a Ctrl-C reaches only the benchmark itself. */
export function startProgram(
  name: string,
  command: string,
  args: readonly string[],
  options: { env?: Record<string, string>; cwd?: string; signal?: NodeJS.Signals } = {},
): Child {
  const child = spawn(command, args, {
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NODE_NO_WARNINGS: "1", ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  return watch(name, child, options.signal ?? "SIGTERM");
}

/** Starts one of our own modules with an IPC channel; resolves with the first message it sends. */
export async function startModule<Ready>(
  name: string,
  module: URL,
  args: readonly string[],
): Promise<Child & { ready: Ready }> {
  const options: ForkOptions & { detached: boolean } = {
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    env: { ...process.env, NODE_NO_WARNINGS: "1" },
  };
  const child = watch(name, fork(module, [...args], options), "SIGTERM");
  const ready = Promise.withResolvers<Ready>();
  child.process.once("message", (message) => ready.resolve(message as Ready));
  child.process.once("exit", () => ready.reject(new Error(`${name} ended before it was ready\n${child.output()}`)));
  return { ...child, ready: await within(30_000, `start of ${name}`, ready.promise) };
}

/** Runs one of our own modules to its `{ report }`; on the way it may say `{ progress }`. */
export async function startProgress<Report>(
  name: string,
  module: URL,
  args: readonly string[],
  msMax: number,
  onProgress: (text: string) => void,
): Promise<Report> {
  const child = watch(
    name,
    fork(module, [...args], { detached: true, stdio: ["ignore", "pipe", "pipe", "ipc"] }),
    "SIGTERM",
  );
  const report = Promise.withResolvers<Report>();
  child.process.on("message", (message: { report?: Report; progress?: string }) => {
    if (message.progress !== undefined) onProgress(message.progress);
    if (message.report !== undefined) report.resolve(message.report);
  });
  child.process.once("exit", () => report.reject(new Error(`${name} ended before its report\n${child.output()}`)));
  try {
    return await within(msMax, `report of ${name}`, report.promise);
  } finally {
    await child.stop();
  }
}

/** Polls `url` until it answers 2xx. */
export async function healthy(child: Child, url: string, msMax = 30_000): Promise<void> {
  const deadline = Date.now() + msMax;
  while (Date.now() < deadline) {
    if (child.process.exitCode !== null) break;
    const answer = await fetch(url).catch(() => undefined);
    await answer?.body?.cancel();
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${child.name} did not become healthy at ${url}\n${child.output()}`);
}

export async function within<T>(ms: number, what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${ms} ms`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

function watch(name: string, child: ChildProcess, signal: NodeJS.Signals): Child {
  let output = "";
  const gather = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-outputCharsMax);
  };
  child.stdout?.on("data", gather);
  child.stderr?.on("data", gather);
  child.on("error", (error) => gather(Buffer.from(String(error))));
  const { pid } = child;
  if (pid !== undefined) {
    guard(pid, signal);
    child.once("exit", () => release(pid));
  }
  const stop = async (): Promise<void> => {
    if (pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, "exit");
    signalPid(pid, "SIGCONT");
    child.kill(signal);
    await within(stopMsMax, `stop of ${name}`, exit).catch(async () => {
      child.kill("SIGKILL");
      await exit;
    });
  };
  return { name, process: child, output: () => output, stop };
}

function signalPid(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Already gone, which is what was wanted.
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return !stat.slice(stat.lastIndexOf(")") + 2).startsWith("Z");
  } catch {
    return false;
  }
}
