// A child of the supervisor, seen from outside
// =============================================
//
//   loading ─▶ loaded ─▶ serving ─▶ stopping ─▶ ended
//      └──────────┴─────────┴─ failed (says why, and ends) ─▶ ended

import { fork, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Served, ServeOptions } from "../serve.ts";
import { CHILD_COMMAND, type FromChild, type ShownError, type ToChild } from "./messages.ts";

export type Answer =
  | { readonly type: "loaded" }
  | { readonly type: "listening"; readonly served: Served }
  | { readonly type: "failed"; readonly error: ShownError }
  | { readonly type: "ended"; readonly how: string };

const BIN = fileURLToPath(new URL("../../../bin/perdure.mjs", import.meta.url));
/** What a drain may take beyond its grace before the process is killed. */
const STOP_SLACK_MS = 3_000;

export class ServingChild {
  readonly ended: Promise<string>;
  readonly #process: ChildProcess;
  readonly #answers: ((answer: Answer) => void)[] = [];

  constructor(onFile: (file: string) => void) {
    this.#process = fork(BIN, [CHILD_COMMAND], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
    this.ended = new Promise((resolve) => {
      this.#process.on("error", (error) => resolve(error.message));
      this.#process.on("exit", (code, signal) => resolve(signal ?? `exit code ${code}`));
    });
    void this.ended.then((how) => this.#answer({ type: "ended", how }));
    this.#process.on("message", (message) => {
      const said = message as FromChild;
      if (said.type === "file") onFile(said.file);
      else this.#answer(said);
    });
  }

  load(options: ServeOptions): Promise<Answer> {
    return this.#ask({ type: "load", options });
  }

  serve(port: number, adminPort: number): Promise<Answer> {
    return this.#ask({ type: "serve", port, adminPort });
  }

  /** Drains it; kills it where that takes too long. */
  async stop(graceMs: number): Promise<void> {
    this.#send({ type: "stop", graceMs });
    const timer = setTimeout(() => this.kill(), graceMs + STOP_SLACK_MS);
    await this.ended;
    clearTimeout(timer);
  }

  kill(): void {
    this.#process.kill("SIGKILL");
  }

  #ask(message: ToChild): Promise<Answer> {
    return new Promise((resolve) => {
      this.#answers.push(resolve);
      if (this.#process.exitCode === null && this.#process.signalCode === null) this.#send(message);
      else void this.ended.then((how) => this.#answer({ type: "ended", how }));
    });
  }

  #send(message: ToChild): void {
    if (this.#process.connected) this.#process.send(message, () => undefined);
  }

  #answer(answer: Answer): void {
    for (const resolve of this.#answers.splice(0)) resolve(answer);
  }
}
