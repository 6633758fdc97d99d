// The guest: one attempt, alone in an isolate
// ===========================================
// It is the same replay attempt as in-process, over ports that are messages. Its heap is the run's: while it waits, the
// host may take an image of all of it, and put it back in another process.
//
//   empty ──start──▶ live ⇄ waits ──▶ over
//                     ▲       ┊
//                     └resume─┘  (imaged and put back)
//
// G1. Code of the handler and code of its steps never run in the same piece: a step's closure, what a host function
//     answers and timers of steps have pieces of their own. So it is known whose code is running, also behind an `await`.
// G2. What handler code can see depends on the journal alone: its clock stands at the entry that was delivered last, and
//     its random numbers come from the run's id. Steps have the real time and real chance.
// G3. Nothing outside refers to the heap, and the heap to nothing outside but by numbers. After `resume` the numbers that
//     were open are void: steps are begun again (I2), so their calls and timers are, too.

import type { AttemptStart, Entry, Payload } from "@perdure/protocol";
import { assert, failureFrom } from "@perdure/protocol";
import type { AttemptOptions } from "../attempt/attempt-options.ts";
import { migrateState } from "../attempt/migrate-state.ts";
import { ReplayAttempt } from "../attempt/replay-attempt.ts";
import { IdentityRandom } from "../attempt/identity.ts";
import { Turns } from "../attempt/turns.ts";
import { unknownTarget } from "../attempt/unknown-target.ts";
import { resolveRetry } from "../definitions/manifest.ts";
import type { Registry } from "../definitions/registry.ts";
import { REHEARSAL, rehearsal } from "./rehearsal.ts";
import { GuestCalls } from "./guest-calls.ts";
import { GuestOutbox } from "./guest-outbox.ts";
import { GuestPorts } from "./guest-ports.ts";
import type { HostFunctions } from "./guest-ports.ts";
import type { GuestEvent, Outbox, WireStart } from "./wire.ts";
import { fromWire, toWire } from "./wire.ts";

/** Long enough for nothing: code inside an isolate waits for nothing but the journal and its own microtasks. */
const DIVERGENCE_GRACE_MS = 0;

export class Guest {
  readonly outbox: GuestOutbox = new GuestOutbox();
  readonly ports: GuestPorts;
  readonly calls: GuestCalls;
  readonly #registry: Registry;
  #attempt: ReplayAttempt | undefined = undefined;
  #random: IdentityRandom | undefined = undefined;

  constructor(registry: Registry, host: HostFunctions) {
    this.#registry = registry;
    this.ports = new GuestPorts(this.outbox, host);
    this.calls = new GuestCalls(this.outbox, this.ports);
    this.ports.callHost = (target, args) => this.calls.call(target, args);
    for (const prepare of registry.prepare) prepare(this.ports);
  }

  /** For globals that are durable: timers outside of steps. */
  get attempt(): ReplayAttempt | undefined {
    return this.#attempt;
  }

  /** In [0, 1): replayable in handler code, the host's chance is not asked there (G2). */
  random(): number {
    return this.#random === undefined ? 0.5 : this.#random.random();
  }

  uuid(): string {
    assert(this.#random !== undefined, "no run has begun");
    return this.#random.uuid();
  }

  handlers(): string {
    return JSON.stringify(this.#registry.manifests);
  }

  turn(text: string): void {
    const event = fromWire(text) as GuestEvent;
    this.ports.time = event.now;
    switch (event.type) {
      case "start":
        this.#start(event.start);
        return;
      case "resume":
        this.#resume(event.start, event.entry);
        return;
      case "notify":
        this.#attempt?.notify(event.entries);
        return;
      case "callSaid":
        this.ports.inStep(() => this.calls.said(event.call, event.said));
        return;
      case "callEnded":
        this.ports.inStep(() => this.calls.ended(event.call, event.outcome));
        return;
      case "timer":
        this.ports.inStep(() => this.ports.fired(event.timer));
        return;
      case "yield":
        this.#attempt?.yield();
        return;
      case "migrate":
        migrateState(this.#registry, event.migration).then(
          (state) => this.outbox.add({ type: "migrated", state }),
          (error: unknown) => this.outbox.add({ type: "notMigrated", failure: failureFrom(error) }),
        );
        return;
      case "forget":
        this.#attempt?.abort("the rehearsal is over");
        this.#attempt = undefined;
        this.#random = undefined;
        this.ports.resume();
        this.calls.resume();
        return;
    }
  }

  /** Runs the next piece that is due; an empty text: there may be more. */
  settle(): string {
    if (this.ports.next()) return "";
    const attempt = this.#attempt;
    const outbox: Outbox = {
      messages: this.outbox.take(),
      awaiting: attempt?.awaiting() ?? null,
      imageableAt: attempt?.imageableAt ?? null,
    };
    return toWire(outbox);
  }

  #start(wire: WireStart): void {
    const start = fromWireStart(wire);
    this.ports.delivering(start.createdAt);
    const options: AttemptOptions = {
      ports: this.ports,
      turns: new Turns((callback) => this.ports.afterMicrotasks(callback)),
      defaultRetry: resolveRetry({}),
      suspendAfterMs: Number.POSITIVE_INFINITY, // The host knows what instances cost, and asks for it.
      divergenceGraceMs: DIVERGENCE_GRACE_MS,
      ended: () => {},
    };
    const attempt = new ReplayAttempt(start, this.outbox, options);
    this.#attempt = attempt;
    this.#random = new IdentityRandom(attempt.identity);
    const spec =
      start.service === REHEARSAL
        ? rehearsal.specs.get(start.handler)
        : this.#registry.find(start.service, start.handler);
    if (spec === undefined) {
      const error = unknownTarget(this.#registry, start.service, start.handler);
      attempt.fail({ failure: error.toFailure(), behavior: "pause" });
    } else void attempt.run(spec, { ...start, entries: [], state: null }); // It is held for as long as the handler runs.
  }

  #resume(wire: WireStart, entry: number): void {
    const attempt = this.#attempt;
    assert(attempt !== undefined, "an image has its attempt in it");
    this.outbox.take(); // Was said before the image, and is in the journal or void.
    this.ports.resume();
    this.calls.resume();
    attempt.resume(fromWireStart(wire), entry);
  }
}

function fromWireStart(wire: WireStart): AttemptStart {
  const { state, ...rest } = wire;
  const entries: readonly Entry[] = rest.entries;
  return { ...rest, entries, image: null, state: state === null ? null : new Map<string, Payload>(state) };
}
