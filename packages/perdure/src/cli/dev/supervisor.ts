// The supervisor of `dev`
// =======================
// Serves in a child process and replaces it when a file changes. A new version is loaded before the old one is stopped:
// while it does not load, the old one goes on serving. Runs notice nothing but a restart, which they survive.
//
//   loading ─▶ serving ─▶ (change) loading beside the old ─▶ old drains ─▶ serving
//      │                     └─ does not load: the old one serves on, until the next change
//      └─ does not load: nothing serves, until the next change
//   serving ─▶ (child dies) ─▶ loading, with backoff
//
// S1. At most one child serves; another may be loading.
// S2. Once a port was taken, later versions take the same one.

import { resolve } from "node:path";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { Served, ServeOptions } from "../serve.ts";
import { ServingChild, type Answer } from "./child-process.ts";
import type { ShownError } from "./messages.ts";
import { Watcher } from "./watcher.ts";

/** Tells a person (or a program) what happens. */
export interface DevReporter {
  listening(served: Served, watched: number, tookMs: number, first: boolean): void;
  changed(files: readonly string[]): void;
  /** `serve on`: with the version before. `end`: no edit of the served files mends it. */
  failed(error: ShownError, next: "serve on" | "wait" | "end"): void;
  died(how: string, againInMs: number): void;
  stopping(): void;
}

/** An old version's running steps get this long; what they were doing is tried again by the new one. */
const RELOAD_GRACE_MS = 2_000;
const BACKOFF_MS_FIRST = 500;
const BACKOFF_MS_MAX = 10_000;
/** A child that served this long had started well. */
const SETTLED_MS = 20_000;
const TAKEN: ReadonlySet<string | undefined> = new Set(["P0040", "P0050"]);
/** Errors that no edit of the served files mends. */
const FINAL: ReadonlySet<string | undefined> = new Set([...TAKEN, "P0041", "P0042", "P0051"]);

export class Supervisor {
  readonly #options: ServeOptions;
  readonly #report: DevReporter;
  readonly #watcher: Watcher;
  #current: ServingChild | undefined;
  #standby: ServingChild | undefined;
  #ports: { readonly port: number; readonly adminPort: number };
  #first = true;
  #backoffMs = BACKOFF_MS_FIRST;
  #pending: string[] = [];
  #wake: () => void = () => undefined;
  #exit: ExitCode | undefined;
  #serving = false;
  /** A child that died is to be replaced now. */
  #due = false;

  constructor(options: ServeOptions, report: DevReporter) {
    this.#options = options;
    this.#report = report;
    this.#ports = { port: options.port, adminPort: options.adminPort };
    this.#watcher = new Watcher((files) => {
      this.#pending.push(...files);
      this.#wake();
    });
    for (const file of options.files) this.#watcher.add(resolve(options.cwd, file));
  }

  /** Serves until `stop`. */
  async run(): Promise<ExitCode> {
    try {
      while (this.#exit === undefined) {
        await this.#replace();
        await this.#change();
      }
    } finally {
      this.#watcher.close();
      this.#standby?.kill();
      await this.#current?.stop(this.#options.graceMs);
    }
    return this.#exit; // Only now: a second Ctrl-C may have come meanwhile.
  }

  /** Lets running steps finish; called again, does not wait for them. */
  stop(): void {
    if (this.#exit === undefined) {
      this.#exit = EXIT.ok;
      this.#report.stopping();
      this.#wake();
    } else {
      this.#exit = EXIT.interrupted;
      this.#standby?.kill();
      this.#current?.kill();
    }
  }

  /** Loads a new version and, if it can be loaded, puts it in the place of the present one. */
  async #replace(): Promise<void> {
    const began = Date.now();
    const child = new ServingChild((file) => this.#watcher.add(file));
    this.#standby = child;
    this.#due = false;
    const loaded = await this.#unlessOutdated(child.load(this.#options));
    this.#standby = undefined;
    if (loaded === undefined) return child.kill();
    if (loaded.type !== "loaded") return this.#reject(child, loaded);
    const old = this.#current;
    this.#current = child;
    this.#serving = false;
    await old?.stop(RELOAD_GRACE_MS);
    if (this.#exit !== undefined) return;
    const answer = await child.serve(this.#ports.port, this.#ports.adminPort);
    if (answer.type !== "listening") {
      this.#current = undefined;
      return this.#reject(child, answer);
    }
    this.#ports = { port: portOf(answer.served.ingressUrl), adminPort: portOf(answer.served.adminUrl) };
    this.#report.listening(answer.served, this.#watcher.count, Date.now() - began, this.#first);
    this.#first = false;
    this.#serving = true;
    void this.#lookAfter(child);
  }

  /** Undefined as soon as there is another change, or the end: this version is not wanted any more. */
  async #unlessOutdated(loading: Promise<Answer>): Promise<Answer | undefined> {
    for (;;) {
      const first = await Promise.race([loading, this.#woken()]);
      if (first !== "woken") return first;
      if (this.#exit !== undefined || this.#pending.length > 0) return undefined;
    }
  }

  #reject(child: ServingChild, answer: Answer): void {
    child.kill();
    const ended: ShownError = {
      message: "the process ended while it was starting",
      code: undefined,
      metadata: undefined,
      stack: undefined,
    };
    const error =
      answer.type === "failed"
        ? answer.error
        : answer.type === "ended"
          ? { ...ended, message: `${ended.message} (${answer.how})` }
          : ended;
    const isFinal = this.#first && FINAL.has(error.code);
    this.#report.failed(error, this.#serving ? "serve on" : isFinal ? "end" : "wait");
    if (isFinal) this.#exit ??= TAKEN.has(error.code) ? EXIT.taken : EXIT.failed;
  }

  async #lookAfter(child: ServingChild): Promise<void> {
    const began = Date.now();
    const how = await child.ended;
    if (child !== this.#current || this.#exit !== undefined) return;
    this.#current = undefined;
    this.#serving = false;
    if (Date.now() - began > SETTLED_MS) this.#backoffMs = BACKOFF_MS_FIRST;
    const delay = this.#backoffMs;
    this.#backoffMs = Math.min(delay * 2, BACKOFF_MS_MAX);
    this.#report.died(how, delay);
    setTimeout(() => {
      this.#due = true;
      this.#wake();
    }, delay);
  }

  /** Resolves when something is to be done. */
  async #change(): Promise<void> {
    const isDue = (): boolean => this.#pending.length > 0 || (this.#due && this.#current === undefined);
    while (this.#exit === undefined && !isDue()) await this.#woken();
    const files = [...new Set(this.#pending.splice(0))];
    if (this.#exit === undefined && files.length > 0) {
      this.#backoffMs = BACKOFF_MS_FIRST;
      this.#report.changed(files);
    }
  }

  #woken(): Promise<"woken"> {
    const { promise, resolve: wake } = Promise.withResolvers<"woken">();
    this.#wake = () => wake("woken");
    return promise;
  }
}

function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
}
