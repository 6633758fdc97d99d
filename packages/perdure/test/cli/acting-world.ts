// A runtime over a directory of its own, with small handlers, and the command line in this process.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunDetail } from "@perdure/protocol";
import { object, service } from "@perdure/sdk";
import { main } from "../../src/cli/main.ts";
import type { Io } from "../../src/cli/io.ts";
import { serve, type Serving } from "../../src/serve.ts";

const worker = service("worker", {
  echo: async (_ctx, input: unknown) => input,
  listen: async (ctx, name: string) => ctx.signal(name),
  wait: async (ctx) => {
    const { id, promise } = ctx.awakeable<unknown>();
    await ctx.step("announce", () => id);
    return promise;
  },
  steps: async (ctx, count: number) => {
    for (let step = 0; step < count; step += 1) await ctx.step(`step ${step}`, () => step);
    return count;
  },
  once: async (ctx) => ctx.step("charge", () => Promise.reject(new Error("nobody knows")), { atMostOnce: true }),
});

const box = object("box", {
  put: async (ctx, value: unknown) => {
    ctx.set("value", value);
  },
  hold: async (ctx) => ctx.signal("release"),
});

export interface Ran {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly stdin?: string;
  readonly tty?: boolean;
  readonly cwd?: string;
}

/** The command line, with nobody at the terminal. */
export async function perdure(words: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { tty = false } = options;
  const written = { stdout: "", stderr: "" };
  const stream = (name: "stdout" | "stderr"): Io["stdout"] => ({
    isTTY: tty,
    columns: 80,
    write: (text) => void (written[name] += String(text)),
  });
  const io: Io = {
    stdin: { isTTY: false, [Symbol.asyncIterator]: () => lines(options.stdin ?? "") },
    stdout: stream("stdout"),
    stderr: stream("stderr"),
    env: { NO_COLOR: "1" },
    cwd: options.cwd ?? process.cwd(),
    now: Date.now,
    interrupted: new AbortController().signal,
    onStop: () => () => undefined,
  };
  return { exit: await main(words, io), ...written };
}

async function* lines(text: string): AsyncGenerator<string> {
  yield text;
}

export interface ActingWorld {
  readonly server: Serving;
  readonly data: string;
  /** A command that asks this runtime. */
  ask(words: readonly string[], options?: RunOptions): Promise<Ran>;
  /** Starts a run and gives its id. */
  start(target: string, input?: unknown): Promise<string>;
  detail(run: string): Promise<RunDetail>;
  /** Until it waits for something that a person gives, or is in one of these statuses. */
  settled(run: string, ...statuses: readonly string[]): Promise<RunDetail>;
  close(): Promise<void>;
}

export async function openActingWorld(): Promise<ActingWorld> {
  const data = mkdtempSync(join(tmpdir(), "perdure-cli-"));
  const server = await serve({
    definitions: [worker, box],
    data,
    ingress: { port: 0 },
    admin: { port: 0 },
    log: () => undefined,
  });
  const json = async (url: string, init?: RequestInit): Promise<unknown> => (await fetch(url, init)).json();
  const detail = async (run: string): Promise<RunDetail> => (await json(`${server.adminUrl}/runs/${run}`)) as RunDetail;
  return {
    server,
    data,
    ask: (words, options) => perdure([...words, "--admin", server.adminUrl], options),
    start: async (target, input) => {
      const headers = { "content-type": "application/json" };
      const body = input === undefined ? {} : { headers, body: JSON.stringify(input) };
      return ((await json(`${server.ingressUrl}/${target}/send`, { method: "POST", ...body })) as { runId: string })
        .runId;
    },
    detail,
    settled: async (run, ...statuses) => {
      for (let tries = 0; tries < 500; tries += 1) {
        const found = await detail(run);
        const waits = found.waits.some(({ kind }) => kind === "signal" || kind === "awakeable");
        if (statuses.length === 0 ? waits : statuses.includes(found.run.status)) return found;
        await new Promise((done) => setTimeout(done, 20));
      }
      throw new Error(`${run} did not become ${statuses.join(" or ") || "waiting"}`);
    },
    close: async () => {
      await server.close(0);
      rmSync(data, { recursive: true, force: true });
    },
  };
}
