// A runtime on disk with handlers that end up in every state, and the command line beside it, in this process.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { handler, object, service, TerminalError } from "@perdure/sdk";
import type { Io } from "../../src/cli/io.ts";
import { main } from "../../src/cli/main.ts";
import { serve, type Serving } from "../../src/serve.ts";

const worker = service("worker", {
  echo: async (_ctx, input: unknown) => input,
  nothing: handler({ description: "Does nothing at all" }, async () => undefined),
  fail: async () => {
    throw new TerminalError("no stamps left", { status: 418 });
  },
  early: async () => {
    throw new TerminalError("too early", { status: 470 });
  },
  nap: async (ctx, ms: number) => {
    await ctx.sleep(ms, "nap");
    return "rested";
  },
  approve: async (ctx) => {
    const { id, promise } = ctx.awakeable<unknown>();
    await ctx.step("announce", () => id);
    return promise;
  },
  listen: async (ctx, name: string) => ctx.signal(name),
  flaky: async (ctx) =>
    ctx.step("post", () => Promise.reject(new Error("the post office is closed")), {
      retry: { initial: "1h", max: "1h" },
    }),
  shaky: handler({ retry: { initial: "1h", max: "1h" } }, async () => {
    throw new Error("the floor trembles");
  }),
  tired: async (ctx) =>
    ctx.step("post", () => Promise.reject(new Error("nobody there")), { retry: { maxAttempts: 1 } }),
  charge: async (ctx) => ctx.step("charge", () => Promise.reject(new Error("nobody knows")), { atMostOnce: true }),
  large: async (ctx) => ctx.step("write", () => "x".repeat(9_000)),
  family: async (ctx) => Promise.all([ctx.call("worker").approveTwice(1), ctx.call("worker").echo("child")]),
  approveTwice: async (ctx) => ctx.call("worker").approve(),
});

const inbox = object("inbox", { add: async (ctx, note: string) => `${ctx.key}: ${note}` });

export interface Answer {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface Typed {
  readonly done: Promise<Answer>;
  /** What stands on standard output so far. */
  out(): string;
  /** Ctrl-C. */
  interrupt(): void;
}

export interface TypeOptions {
  /** Columns of a terminal; absent: a pipe. */
  readonly terminal?: number;
  readonly env?: Readonly<Record<string, string>>;
}

export class LookWorld {
  readonly serving: Serving;
  readonly #data: string;

  private constructor(serving: Serving, data: string) {
    this.serving = serving;
    this.#data = data;
  }

  static async open(): Promise<LookWorld> {
    const data = await mkdtemp(join(tmpdir(), "perdure-look-"));
    const serving = await serve({
      definitions: [worker, inbox],
      data,
      ingress: { port: 0 },
      admin: { port: 0 },
      suspendAfterMs: 20,
      log: () => undefined,
    });
    return new LookWorld(serving, data);
  }

  async close(): Promise<void> {
    await this.serving.close(200);
    await rm(this.#data, { recursive: true, force: true });
  }

  type(words: readonly string[], options: TypeOptions = {}): Typed {
    const { adminUrl, ingressUrl } = this.serving;
    const written = { out: "", err: "" };
    const controller = new AbortController();
    const stream = (name: "out" | "err"): Io["stdout"] => ({
      write: (text) => (written[name] += typeof text === "string" ? text : Buffer.from(text).toString("latin1")),
      isTTY: options.terminal !== undefined,
      columns: options.terminal,
    });
    const io: Io = {
      stdin: (async function* () {})(),
      stdout: stream("out"),
      stderr: stream("err"),
      env: { PERDURE_ADMIN: adminUrl, PERDURE_URL: ingressUrl, NO_COLOR: "1", ...options.env },
      cwd: this.#data,
      now: Date.now,
      interrupted: controller.signal,
      onStop: () => () => undefined,
    };
    const done = main(words, io).then((code) => ({ code, ...written }));
    return { done, out: () => written.out, interrupt: () => controller.abort() };
  }

  run(...words: readonly string[]): Promise<Answer> {
    return this.type(words).done;
  }

  /** @param status waits until it is there; absent: for one that may have passed before anybody looks. @returns the run's id */
  async begin(target: string, input: unknown, status?: string): Promise<string> {
    const body =
      input === undefined ? {} : { body: JSON.stringify(input), headers: { "content-type": "application/json" } };
    const answer = await fetch(`${this.serving.ingressUrl}/${target}/send`, { method: "POST", ...body });
    const { runId } = (await answer.json()) as { runId: string };
    if (status !== undefined) await this.reaches(runId, status);
    return runId;
  }

  async reaches(run: string, status: string): Promise<void> {
    await until(`${run} to be ${status}`, async () => {
      const answer = await fetch(`${this.serving.adminUrl}/runs/${run}`);
      return answer.ok && ((await answer.json()) as { run: { status: string } }).run.status === status;
    });
  }

  async post(path: string, body: unknown): Promise<void> {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(this.serving.adminUrl + path, { method: "POST", headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(await answer.text());
  }
}

export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 10_000;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
