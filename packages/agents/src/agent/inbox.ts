// The inbox of a turn: messages that arrive while the agent is at work
// ===================================================================
// Messages queue for the agent's key as runs, whatever this class does; here they are only *taken* early. They are known from
// `getQueue` at the turn's start and from the signal of each arrival after it, so a message may be told twice and counts once.
//
// I1. A message that is taken is in the transcript before the next model call.
// I2. A message that is not taken (policy, or the turn ended first) gets its own turn: nothing is dropped.
// I3. Which messages are taken when follows from the journal alone: signals and answers come in its order.

import { ARRIVAL_SIGNAL, type QueuedMessage } from "@perdure/protocol";
import { FORK_SIGNAL, type ForkChanges, readForkChanges } from "./fork-changes.ts";
import { internalsOf, type ObjectContext, type RunId } from "@perdure/sdk";
import { readMessage, type AgentMessage, type MessagePolicy } from "./messages.ts";

/** Asks the turn to end, keeping what there is. */
export const STOP_SIGNAL = "perdure.stop";

export interface Arrival {
  readonly run: RunId;
  readonly message: AgentMessage;
  readonly policy: MessagePolicy;
}

/** Decides what becomes of a message that arrives while the agent is at work. It may use `ctx`, and is then journaled. */
export type ArrivalHook = (
  message: AgentMessage,
  busy: { readonly ctx: ObjectContext; readonly task: string },
) => MessagePolicy | undefined | Promise<MessagePolicy | undefined>;

/** Why a phase was interrupted. */
export type Interruption = "interrupt" | "stop" | "restart";

export class Inbox {
  readonly #ctx: ObjectContext;
  readonly #hook: ArrivalHook | undefined;
  readonly #task: string;
  readonly #known: Set<RunId>;
  #pending: Arrival[] = [];
  #collected: Arrival[] = [];
  /** Came before the message that starts anew, and had not been seen yet. */
  #calledOff: Arrival[] = [];
  #controller: AbortController = new AbortController();
  /** Hooks are asked one after the other, in the order of arrival. */
  #deciding: Promise<void> = Promise.resolve();
  /** What a hook threw, or a cancel that found nothing else waiting: the turn meets it when it looks here next. */
  #failure: { readonly error: unknown } | undefined = undefined;
  #closed = false;
  /** More queues behind what `getQueue` has told of. */
  #hasUnknown = false;
  stopAsked = false;
  restart: Arrival | undefined = undefined;
  /** The turn is a fork's, which is to go on otherwise. */
  changes: ForkChanges | undefined = undefined;

  /** @param seen messages that stand in the transcript already, and queue until their own runs come and go. */
  constructor(ctx: ObjectContext, task: string, hook: ArrivalHook | undefined, seen: Iterable<RunId>) {
    this.#known = new Set(seen);
    this.#ctx = ctx;
    this.#task = task;
    this.#hook = hook;
  }

  /**
   * Begins to listen, and asks what queues already. Those with the policy `collect` are kept apart. Answers with all that
   * queues, or with nothing where that is more than is told at once.
   */
  async open(): Promise<ReadonlySet<RunId> | undefined> {
    // What queues already arrived before whatever a signal tells of, also where the signal is heard first.
    let later: QueuedMessage[] | undefined = [];
    this.#listen<QueuedMessage>(ARRIVAL_SIGNAL, (queued) => {
      if (later === undefined) this.#arrived(queued, false);
      else later.push(queued);
    });
    this.#listen<unknown>(STOP_SIGNAL, () => {
      this.stopAsked = true;
      this.#interrupt("stop");
    });
    this.#listen<unknown>(FORK_SIGNAL, (note) => {
      this.changes = readForkChanges(note);
    });
    const { messages, more } = await internalsOf(this.#ctx).getQueue();
    this.#hasUnknown = more;
    for (const queued of messages) this.#arrived(queued, true);
    for (const queued of later) this.#arrived(queued, false);
    later = undefined;
    await this.#deciding;
    return more ? undefined : new Set(messages.map(({ run }) => run));
  }

  /** The turn has come to its end. What still arrives gets a turn of its own (I2). */
  end(): void {
    this.#closed = true;
  }

  /** The signal of what is about to begin (a generation, tool calls): fires where it is to be cut short. */
  beginPhase(): AbortSignal {
    if (this.#controller.signal.aborted) this.#controller = new AbortController();
    if (this.stopAsked) this.#interrupt("stop");
    else if (this.restart !== undefined) this.#interrupt("restart");
    return this.#controller.signal;
  }

  /** Something is to be seen before the next model call, or ends the turn. */
  get waiting(): boolean {
    return this.#pending.length > 0 || this.stopAsked || this.restart !== undefined;
  }

  /** Messages to be seen now (I1), without those that were withdrawn meanwhile. @throws what a hook threw */
  async take(): Promise<readonly Arrival[]> {
    await this.#deciding;
    if (this.#failure !== undefined) throw this.#failure.error;
    return await this.#present(this.#pending.splice(0));
  }

  /** True: nothing is to be seen, and what arrives from now on is left to its own turn (I2). */
  async close(): Promise<boolean> {
    await this.#deciding;
    this.#closed = !this.waiting;
    return this.#closed;
  }

  async takeCollected(): Promise<readonly Arrival[]> {
    return await this.#present(this.#collected.splice(0));
  }

  /** The message that starts anew; undefined where it was withdrawn, and then what it would have called off is seen. */
  async takeRestart(): Promise<Arrival | undefined> {
    const asked = this.restart;
    this.restart = undefined;
    const [present] = await this.#present(asked === undefined ? [] : [asked]);
    if (present === undefined) this.#pending.unshift(...this.#calledOff.splice(0));
    return present;
  }

  async takeCalledOff(): Promise<readonly Arrival[]> {
    return await this.#present(this.#calledOff.splice(0));
  }

  async #present(arrivals: readonly Arrival[]): Promise<readonly Arrival[]> {
    const ended = await Promise.all(
      arrivals.map(({ run }) =>
        this.#ctx
          .run(run)
          .output()
          .then(isReady, () => true),
      ),
    );
    return arrivals.filter((_, index) => ended[index] === false);
  }

  #listen<T>(signal: string, take: (value: T) => void): void {
    const receive = async (): Promise<void> => {
      for await (const value of this.#ctx.signals<T>(signal)) {
        take(value);
        if (this.#closed) return; // It came as the turn ended: nobody may listen on.
      }
    };
    receive().catch((error: unknown) => {
      this.#failure ??= { error };
    });
  }

  #arrived(queued: QueuedMessage, early: boolean): void {
    const message = readMessage(queued.input);
    if (message === undefined || this.#known.has(queued.run)) return; // Not one: its own run will say so.
    this.#known.add(queued.run);
    this.#deciding = this.#deciding
      .then(() => (this.#closed ? undefined : this.#decide(queued.run, message, early)))
      .catch((error: unknown) => {
        this.#failure ??= { error };
      });
  }

  async #decide(run: RunId, message: AgentMessage, early: boolean): Promise<void> {
    const asked = await this.#hook?.(message, { ctx: this.#ctx, task: this.#task });
    const policy = asked ?? message.policy ?? "steer";
    const arrival = { run, message, policy };
    switch (policy) {
      case "steer":
        // Behind messages that are not known here it waits for its own turn: they came first.
        if (early || !this.#hasUnknown) this.#pending.push(arrival);
        return;
      case "interrupt":
        this.#pending.push(arrival);
        this.#interrupt("interrupt");
        return;
      case "restart":
        this.#calledOff.push(...this.#pending.splice(0));
        if (this.restart !== undefined) this.#calledOff.push(this.restart);
        this.restart = arrival;
        this.#interrupt("restart");
        return;
      case "collect":
        if (early) this.#collected.push(arrival);
        return;
      case "queue":
        return; // I2
    }
  }

  #interrupt(why: Interruption): void {
    this.#controller.abort(why);
  }
}

function isReady(output: { readonly ready: boolean }): boolean {
  return output.ready;
}
