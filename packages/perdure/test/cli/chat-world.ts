// A runtime with agents whose models do what a test says, and chats with them: in this process, through pipes.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import type { TranscriptItem } from "@perdure/agents";
import { agent, subagent, tool } from "../../src/index.ts";
import { scriptedModel, type Script, type ScriptedRequest } from "../../src/testing.ts";
import type { Io, StopSignal } from "../../src/cli/io.ts";
import { main } from "../../src/cli/main.ts";
import { serve, type Serving } from "../../src/serve.ts";

/** Lets a test decide when a model goes on. */
export class Gate {
  #opened: PromiseWithResolvers<void> = Promise.withResolvers();
  readonly #reached: PromiseWithResolvers<void> = Promise.withResolvers();

  /** Somebody waits at it. */
  get reached(): Promise<void> {
    return this.#reached.promise;
  }

  open(): void {
    this.#opened.resolve();
  }

  async pass(): Promise<void> {
    this.#reached.resolve();
    await this.#opened.promise;
  }
}

export const lastOf = ({ messages }: ScriptedRequest): string => messages.at(-1)?.text ?? "";
export const hasResult = ({ messages }: ScriptedRequest): boolean => messages.some(({ role }) => role === "tool");

export class ChatWorld {
  readonly data: string = mkdtempSync(join(tmpdir(), "perdure-chat-"));
  /** What the agents' models say; a test sets them. */
  script: Script = () => "I see.";
  childScript: Script = () => "Written.";
  readonly sentMail: unknown[] = [];
  #serving: Serving | undefined;
  readonly #typed: TypedChat[] = [];

  get serving(): Serving {
    if (this.#serving === undefined) throw new Error("nothing is served");
    return this.#serving;
  }

  async start(): Promise<void> {
    const before = this.#serving;
    const portOf = (url: string | undefined): number => (url === undefined ? 0 : Number(new URL(url).port));
    this.#serving = await serve({
      definitions: this.#agents(),
      data: this.data,
      ingress: { port: portOf(before?.ingressUrl) },
      admin: { port: portOf(before?.adminUrl) },
      log: () => undefined,
    });
  }

  /** Away, and back at the same addresses. */
  async restart(whileAway: () => Promise<void> = async () => undefined): Promise<void> {
    await this.serving.close(0);
    await whileAway();
    await this.start();
  }

  #agents() {
    const mail = tool({
      description: "Sends a mail.",
      approval: "always",
      inputSchema: z.object({ to: z.string() }),
      execute: (input) => {
        this.sentMail.push(input);
        return { sent: input.to };
      },
    });
    const clerk = agent("clerk", {
      model: scriptedModel((...given) => this.childScript(...given)),
      tools: { mail },
    });
    const boss = agent("boss", {
      model: scriptedModel((...given) => this.script(...given)),
      tools: { mail, delegate: subagent(clerk) },
    });
    const miser = agent("miser", {
      model: scriptedModel((...given) => this.script(...given)),
      budget: { calls: 1 },
    });
    return [boss, clerk, miser];
  }

  async close(): Promise<void> {
    for (const typed of this.#typed) typed.abandon();
    await this.#serving?.close(0);
    rmSync(this.data, { recursive: true, force: true });
  }

  /** The command line, with somebody who types when the test says. */
  type(...words: readonly string[]): TypedChat {
    const { ingressUrl, adminUrl } = this.serving;
    const typed = new TypedChat(words, {
      PERDURE_URL: ingressUrl,
      PERDURE_ADMIN: adminUrl,
      NO_COLOR: "1",
      USER: "ada",
    });
    this.#typed.push(typed);
    return typed;
  }

  chat(session: string, ...words: readonly string[]): TypedChat {
    return this.type("chat", "boss", "--session", session, ...words);
  }

  async transcript(session: string, agentName = "boss"): Promise<readonly TranscriptItem[]> {
    const url = `${this.serving.ingressUrl}/perdure/streams/${agentName}/${encodeURIComponent(session)}/transcript?follow=false`;
    const { items } = (await (await fetch(url)).json()) as {
      readonly items: readonly { readonly item: TranscriptItem }[];
    };
    return items.map(({ item }) => item);
  }
}

const WAIT_MS_MAX = 30_000;

export class TypedChat {
  readonly ended: Promise<number>;
  out = "";
  err = "";
  readonly #lines: string[] = [];
  readonly #wakers: Set<() => void> = new Set();
  readonly #stop: AbortController = new AbortController();
  #isOver = false;
  #onStop: ((signal: StopSignal) => void) | undefined;

  constructor(words: readonly string[], env: Io["env"]) {
    const stream = (name: "out" | "err"): Io["stdout"] => ({
      write: (text) => {
        this[name] += String(text);
        this.#wake();
        return true;
      },
    });
    const io: Io = {
      stdin: { [Symbol.asyncIterator]: () => this.#input() },
      stdout: stream("out"),
      stderr: stream("err"),
      env,
      cwd: tmpdir(),
      now: Date.now,
      interrupted: this.#stop.signal,
      onStop: (listener) => {
        this.#onStop = listener;
        return () => (this.#onStop = undefined);
      },
    };
    this.ended = main(words, io).finally(() => {
      this.#isOver = true;
      this.#wake();
    });
  }

  say(line: string): this {
    this.#lines.push(`${line}\n`);
    this.#wake();
    return this;
  }

  /** Nothing more is typed. @returns the exit code */
  end(): Promise<number> {
    this.#lines.push("");
    this.#wake();
    return this.ended;
  }

  /** Ctrl-C. */
  interrupt(): void {
    this.#onStop?.("SIGINT");
  }

  abandon(): void {
    this.#stop.abort();
  }

  async prints(what: string | RegExp): Promise<void> {
    const isThere = (): boolean =>
      typeof what === "string" ? (this.out + this.err).includes(what) : what.test(this.out + this.err);
    const late = setTimeout(() => this.#wake(), WAIT_MS_MAX);
    const until = Date.now() + WAIT_MS_MAX;
    while (!isThere()) {
      if (this.#isOver || Date.now() >= until)
        throw new Error(`${String(what)} was not printed\n--- out\n${this.out}\n--- err\n${this.err}`);
      await this.#woken();
    }
    clearTimeout(late);
  }

  async *#input(): AsyncGenerator<string> {
    for (;;) {
      const line = this.#lines.shift();
      if (line === "") return;
      if (line !== undefined) yield line;
      else await this.#woken();
    }
  }

  #woken(): Promise<void> {
    return new Promise((resolve) => void this.#wakers.add(resolve));
  }

  #wake(): void {
    for (const wake of this.#wakers) wake();
    this.#wakers.clear();
  }
}
