// One attempt, with the test in the engine's place: it reads what the attempt says and notifies it by hand.

import {
  type Attempt,
  type AttemptOrigin,
  type Command,
  type Entry,
  type Result,
  VOID,
  valueResult,
} from "@perdure/protocol";

import type { ExecutorOptions } from "../src/attempt/executor.ts";
import { createRegistry } from "../src/definitions/registry.ts";
import type { AnyDefinition } from "../src/definitions/service.ts";
import type { SdkPorts } from "../src/ports.ts";
import { executorOfMode } from "./both-modes.ts";
import { RUN_ID, START_TIME } from "./fake-engine.ts";

export type Said = readonly [string, ...unknown[]];
type Body<E> = E extends unknown ? Omit<E, "index" | "at"> : never;

export interface ConversationOptions {
  readonly handler?: string;
  readonly key?: string;
  readonly entries?: readonly Body<Entry>[];
  readonly executor?: ExecutorOptions;
  readonly ports?: Partial<SdkPorts>;
  readonly input?: string;
  readonly generation?: number;
  readonly origin?: AttemptOrigin;
}

export class Conversation {
  readonly said: Said[] = [];
  readonly attempt: Attempt;
  now = START_TIME;
  #timers: { readonly at: number; readonly fire: () => void }[] = [];
  #index = 0;

  constructor(definition: AnyDefinition, options: ConversationOptions = {}) {
    const handler = options.handler ?? "go";
    const executor = executorOfMode(
      createRegistry([definition]),
      { ...this.#ports(), ...options.ports },
      { suspendAfterMs: Number.POSITIVE_INFINITY, ...options.executor },
    );
    const entries = (options.entries ?? []).map((body) => this.#entry(body));
    this.attempt = executor.start(
      {
        run: RUN_ID,
        service: definition.name,
        handler,
        key: options.key ?? null,
        mode: definition.specs.get(handler)?.mode ?? "service",
        input: options.input ?? null,
        headers: {},
        idempotencyKey: null,
        generation: options.generation ?? 0,
        createdAt: START_TIME,
        deployment: null,
        image: null,
        origin: options.origin ?? null,
        migrated: null,
        entries,
        state: options.key === undefined ? null : new Map(),
        tries: 0,
      },
      {
        command: (id, command, result, items) =>
          this.#say(
            "command",
            id,
            describe(command),
            ...(result === undefined ? [] : [result]),
            ...(items === undefined ? [] : [items]),
          ),
        append: (stream, items, writer) => this.#say("append", stream, items, writer),
        propose: (id, result) => this.#say("propose", id, short(result)),
        retrying: (id, tries, failure, retryAt) =>
          this.#say("retrying", id, tries, failure.message, retryAt - START_TIME),
        end: (result) => this.#say("end", short(result)),
        suspend: (awaiting, entriesSeen) => this.#say("suspend", awaiting, entriesSeen),
        error: (failure) =>
          this.#say("error", failure.behavior, failure.command, failure.failure.errorCode, failure.failure.message),
        image: (image) => this.#say("image", image.entry),
        imageUnusable: (failure) => this.#say("imageUnusable", failure.message),
      },
    );
  }

  #ports(): SdkPorts {
    return {
      now: () => this.now,
      random: () => 0.5,
      afterMicrotasks: (callback) => process.nextTick(callback),
      delay: (ms, fire) => {
        const timer = { at: this.now + ms, fire };
        this.#timers.push(timer);
        return () => {
          this.#timers = this.#timers.filter((other) => other !== timer);
        };
      },
      createAbortController: () => new AbortController(),
    };
  }

  get timers(): number {
    return this.#timers.length;
  }

  #say(...said: Said): void {
    this.said.push(said);
  }

  #entry(body: Body<Entry>): Entry {
    this.#index += 1;
    return { ...body, index: this.#index, at: this.now } as Entry;
  }

  notify(...bodies: Body<Entry>[]): void {
    this.attempt.notify(bodies.map((body) => this.#entry(body)));
  }

  /** What was said since the last time. */
  async heard(): Promise<Said[]> {
    await turn();
    return this.said.splice(0);
  }

  /** Lets time pass, timer by timer. */
  async advance(ms: number): Promise<void> {
    const until = this.now + ms;
    await turn();
    for (;;) {
      const next = this.#timers.filter((timer) => timer.at <= until).sort((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.now = Math.max(this.now, next.at);
      next.fire();
      await turn();
    }
    this.now = until;
  }
}

async function turn(): Promise<void> {
  for (let i = 0; i < 3; i += 1) await new Promise((resolve) => setImmediate(resolve));
}

export function step(id: number, name: string, result?: unknown, atMostOnce = false): Body<Entry> {
  const command: Command = atMostOnce ? { type: "step", name, atMostOnce: true } : { type: "step", name };
  return {
    kind: "command",
    id,
    command,
    ...(result === undefined ? {} : { result: valueResult(JSON.stringify(result)) }),
  };
}

export function completion(id: number, value?: unknown): Body<Entry> {
  return { kind: "completion", id, result: value === undefined ? VOID : valueResult(JSON.stringify(value)) };
}

function describe(command: Command): string {
  return "name" in command && command.name !== undefined ? `${command.type} ${command.name}` : command.type;
}

function short(result: Result): unknown {
  if (result.kind === "value") return typeof result.value === "string" ? JSON.parse(result.value) : result.value;
  return result.kind === "void" ? undefined : { failure: result.failure.errorCode, message: result.failure.message };
}
