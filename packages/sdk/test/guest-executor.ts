// The guest of an isolate in this realm, as an executor: everything goes through its JSON messages and its pieces, as it does
// in QuickJS, only that the heap is Node's. What cannot be had here is an image.
//
// Code of tests waits for what is no event of the host (a promise that the test resolves). Inside an isolate nothing is; so
// here the guest is also asked what it has to say once the event loop has turned.

import type { Attempt, AttemptReplies, AttemptStart, Awaiting, Entry, Executor } from "@perdure/protocol";
import type { ExecutorOptions } from "../src/attempt/executor.ts";
import type { Registry } from "../src/definitions/registry.ts";
import { Guest } from "../src/guest/guest.ts";
import type { GuestEvent, GuestMessage, Outbox, WireStart } from "../src/guest/wire.ts";
import { fromWire, toWire } from "../src/guest/wire.ts";
import type { SdkPorts } from "../src/ports.ts";

type EventBody = GuestEvent extends infer E ? (E extends GuestEvent ? Omit<E, "now"> : never) : never;

const SUSPEND_AFTER_MS = 1_000;
/** Turns of the event loop without a word, after which nobody listens any more. */
const SILENT_TURNS_MAX = 500;

export function createGuestExecutor(registry: Registry, ports: SdkPorts, options: ExecutorOptions = {}): Executor {
  const { suspendAfterMs = SUSPEND_AFTER_MS } = options;
  return { start: (start, replies) => new GuestAttempt(registry, ports, suspendAfterMs, start, replies) };
}

class GuestAttempt implements Attempt {
  readonly #guest: Guest;
  readonly #ports: SdkPorts;
  readonly #suspendAfterMs: number;
  readonly #start: AttemptStart;
  readonly #replies: AttemptReplies;
  readonly #events: EventBody[] = [];
  readonly #timers = new Map<number, () => void>();
  #awaiting: readonly Awaiting[] | null = null;
  #cancelSuspend: (() => void) | undefined = undefined;
  #running = false;
  #silentTurns = 0;
  #over = false;

  constructor(
    registry: Registry,
    ports: SdkPorts,
    suspendAfterMs: number,
    start: AttemptStart,
    replies: AttemptReplies,
  ) {
    this.#ports = ports;
    this.#suspendAfterMs = suspendAfterMs;
    this.#start = start;
    this.#replies = replies;
    const bits = 2 ** 48;
    this.#guest = new Guest(registry, {
      setClock: () => undefined, // Node's own is not set by tests.
      randomHex: (bytes) =>
        Math.floor(ports.random() * bits)
          .toString(16)
          .padStart(12, "0")
          .padEnd(bytes * 2, "0")
          .slice(0, bytes * 2),
    });
    const { image: _, state, ...rest } = start;
    const wire: WireStart = { ...rest, state: state === null ? null : [...state] };
    this.#give({ type: "start", start: wire });
    this.#listen();
  }

  notify(entries: readonly Entry[]): void {
    this.#awaiting = null;
    this.#give({ type: "notify", entries });
  }

  abort(): void {
    this.#end();
  }

  awaiting(): readonly Awaiting[] | null {
    return this.#over ? null : this.#awaiting;
  }

  yield(): void {
    this.#give({ type: "yield" });
  }

  #give(event: EventBody): void {
    if (this.#over) return;
    this.#events.push(event);
    if (!this.#running) void this.#run();
  }

  /** One event after the other, each until the guest has nothing more to run. */
  async #run(): Promise<void> {
    this.#running = true;
    await Promise.resolve(); // X1
    for (let event = this.#events.shift(); event !== undefined && !this.#over; event = this.#events.shift()) {
      this.#cancelSuspend?.();
      this.#guest.turn(toWire({ ...event, now: this.#ports.now() }));
      await this.#settle();
    }
    this.#running = false;
  }

  async #settle(): Promise<void> {
    for (let said = ""; said === ""; ) {
      await new Promise<void>((resolve) => process.nextTick(resolve)); // All jobs have run.
      if (this.#over) return;
      said = this.#guest.settle();
      if (said !== "") this.#hear(fromWire(said) as Outbox);
    }
  }

  /** What the guest says that no event made it say. */
  #listen(): void {
    const immediate = setImmediate(() => {
      this.#silentTurns += 1;
      if (this.#over || this.#silentTurns > SILENT_TURNS_MAX) return;
      if (this.#running) this.#listen();
      else {
        this.#running = true;
        void this.#settle().then(() => {
          this.#running = false;
          if (this.#events.length > 0) void this.#run();
          this.#listen();
        });
      }
    });
    immediate.unref();
  }

  #hear({ messages, awaiting }: Outbox): void {
    if (messages.length > 0) this.#silentTurns = 0;
    const waits = awaiting !== null && messages.length === 0 && this.#awaiting !== null;
    this.#awaiting = awaiting;
    for (const message of messages) this.#pass(message);
    if (awaiting !== null && !waits && !this.#over) this.#planSuspend();
  }

  #planSuspend(): void {
    this.#cancelSuspend?.();
    if (this.#suspendAfterMs === 0) this.yield();
    else if (this.#suspendAfterMs !== Number.POSITIVE_INFINITY)
      this.#cancelSuspend = this.#ports.delay(this.#suspendAfterMs, () => this.yield());
  }

  #pass(message: GuestMessage): void {
    const replies = this.#replies;
    if (this.#over) return;
    switch (message.type) {
      case "command":
        replies.command(message.id, message.command, message.result, message.items);
        return;
      case "propose":
        replies.propose(message.id, message.result);
        return;
      case "append":
        replies.append(message.stream, message.items, message.writer);
        return;
      case "retrying":
        replies.retrying(message.id, message.tries, message.failure, message.retryAt);
        return;
      case "end":
        this.#end();
        replies.end(message.result);
        return;
      case "suspend":
        this.#end();
        replies.suspend(message.awaiting, message.entriesSeen);
        return;
      case "error":
        this.#end();
        replies.error(message.failure);
        return;
      case "setTimer":
        this.#timers.set(
          message.timer,
          this.#ports.delay(message.ms, () => this.#give({ type: "timer", timer: message.timer })),
        );
        return;
      case "clearTimer":
        this.#timers.get(message.timer)?.();
        return;
      case "log": {
        const { run, service, handler, key } = this.#start;
        const { level, message: text, fields } = message;
        this.#ports.log?.({ level, message: text, fields, run, service, handler, key });
        return;
      }
      case "call":
      case "abortCall":
        return; // No host modules here.
    }
  }

  #end(): void {
    this.#over = true;
    this.#cancelSuspend?.();
    for (const cancel of this.#timers.values()) cancel();
    this.#events.length = 0;
  }
}
