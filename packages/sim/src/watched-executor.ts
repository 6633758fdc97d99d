// Watches the conversation between engine and executor from the executor's side: what attempts were told, what they
// said last. Around any executor.

import {
  type Attempt,
  type AttemptReplies,
  type AttemptStart,
  type Executor,
  JournalMismatchError,
  type RunId,
} from "@perdure/protocol";
import type { AttemptEnd, Observation } from "./observations.ts";

export interface Watch {
  readonly host: number;
  tick(): number;
  epoch(): number;
  nextAttempt(): number;
  see(observation: Observation): void;
}

export class WatchedExecutor implements Executor {
  readonly #inner: Executor;
  readonly #watch: Watch;
  /** Attempts of this host that are not over. */
  readonly #live: Map<RunId, number> = new Map();

  constructor(inner: Executor, watch: Watch) {
    this.#inner = inner;
    this.#watch = watch;
  }

  /** The live attempt of a run on this host, for what its code does. */
  attemptOf(run: RunId): number | undefined {
    return this.#live.get(run);
  }

  start(start: AttemptStart, replies: AttemptReplies): Attempt {
    const watch = this.#watch;
    const attempt = watch.nextAttempt();
    this.#live.set(start.run, attempt);
    watch.see({ type: "started", tick: watch.tick(), host: watch.host, epoch: watch.epoch(), attempt, start });
    const inner = this.#inner.start(start, this.#watchReplies(start.run, attempt, replies));
    return {
      notify: (entries) => {
        watch.see({ type: "told", attempt, entries });
        inner.notify(entries);
      },
      abort: (reason) => {
        this.#over(start.run, attempt, "abort");
        inner.abort(reason);
      },
      awaiting: () => inner.awaiting(),
      yield: () => inner.yield(),
    };
  }

  #watchReplies(run: RunId, attempt: number, replies: AttemptReplies): AttemptReplies {
    return {
      command: (id, command, result, items) => {
        if (items !== undefined) this.#said(run, attempt, { type: "said", attempt, command: id, payloads: items });
        replies.command(id, command, result, items);
      },
      append: (stream, items, writer) => {
        this.#said(run, attempt, { type: "wrote", attempt, stream, items, writer });
        replies.append(stream, items, writer);
      },
      propose: (id, result) => {
        if (result.kind === "value")
          this.#said(run, attempt, { type: "said", attempt, command: id, payloads: [result.value] });
        replies.propose(id, result);
      },
      retrying: (id, tries, failure, retryAt) => replies.retrying(id, tries, failure, retryAt),
      end: (result) => {
        this.#over(run, attempt, "end");
        replies.end(result);
      },
      suspend: (awaiting, entriesSeen) => {
        if (!this.#over(run, attempt, "suspend", { entriesSeen, awaiting })) return;
        replies.suspend(awaiting, entriesSeen);
      },
      error: (failure) => {
        if (failure.failure.errorCode === JournalMismatchError.code && this.#live.get(run) === attempt)
          this.#watch.see({ type: "mismatch", attempt, text: failure.failure.message });
        this.#over(run, attempt, "error");
        replies.error(failure);
      },
      image: (image) => {
        this.#said(run, attempt, { type: "imaged", attempt, image });
        replies.image(image);
      },
      imageUnusable: (failure) => {
        this.#over(run, attempt, "imageUnusable");
        replies.imageUnusable(failure);
      },
    };
  }

  /** What an attempt says after its end is not heard (C1). */
  #said(run: RunId, attempt: number, observation: Observation): void {
    if (this.#live.get(run) === attempt) this.#watch.see(observation);
  }

  #over(run: RunId, attempt: number, how: AttemptEnd, more: object = {}): boolean {
    if (this.#live.get(run) !== attempt) return false;
    this.#live.delete(run);
    this.#watch.see({ type: "over", tick: this.#watch.tick(), attempt, how, ...more });
    return true;
  }

  /** The host dies, and everything on it. */
  crash(): void {
    for (const [run, attempt] of this.#live) this.#over(run, attempt, "crash");
  }
}
