// Waits for other runs: a call's answer, and the id of what was sent.

import type { Awaiting, CommandEntry, Result, RunId, Target } from "@perdure/protocol";
import { assert, errorFromFailure } from "@perdure/protocol";
import { ignoreRejection } from "./promises.ts";
import type { ReplayAttempt } from "./replay-attempt.ts";
import { RunReference } from "./run-reference.ts";
import { Wait } from "./wait.ts";

/**
 * A call. Its child's id is known as soon as the call is journaled, which may be after a cancel has rejected the answer:
 * so it stays registered until then.
 */
export class CallWait extends Wait {
  override lingers = true;
  child: RunId | undefined = undefined;
  #cancelled = false;
  #asked: PromiseWithResolvers<RunId> | undefined = undefined;

  override journaled(entry: CommandEntry): boolean {
    if (entry.child === undefined) return false;
    this.child = entry.child;
    this.lingers = false;
    this.done = this.#cancelled;
    this.#asked?.resolve(entry.child);
    return this.#asked !== undefined;
  }

  override settle(result: Result): void {
    if (this.child === undefined && result.kind === "failure") this.#noChild(errorFromFailure(result.failure));
    if (!this.#cancelled) super.settle(result);
  }

  /** The target does not exist: there is an answer and no run. */
  #noChild(error: unknown): void {
    this.#asked ??= Promise.withResolvers<RunId>();
    ignoreRejection(this.#asked.promise);
    this.#asked.reject(error);
  }

  override awaiting(): Awaiting | undefined {
    return this.child === undefined ? undefined : super.awaiting();
  }

  override cancel(error: unknown): boolean {
    if (this.#cancelled) return false;
    this.#cancelled = true;
    this.reject(error);
    return true;
  }

  childId(): Promise<RunId> {
    if (this.child !== undefined) return Promise.resolve(this.child);
    this.#asked ??= Promise.withResolvers<RunId>();
    return this.#asked.promise;
  }
}

/** A send: settled with a handle as soon as it is journaled. A cancel leaves it alone, since it ends in any case. */
export class SendWait extends Wait {
  override lingers = true;
  readonly #attempt: ReplayAttempt;
  readonly #target: Target;

  constructor(id: number, attempt: ReplayAttempt, target: Target) {
    super(id);
    this.#attempt = attempt;
    this.#target = target;
  }

  override journaled(entry: CommandEntry): boolean {
    if (entry.result !== undefined) return false; // There is no such target: `settle` follows.
    assert(entry.child !== undefined, "a journaled send names its run");
    this.done = true;
    this.resolve(new RunReference(this.#attempt, entry.child));
    return true;
  }

  /** Most sends are not awaited, so a failure must be heard elsewhere. */
  override settle(result: Result): void {
    if (result.kind === "failure") {
      const { service, handler } = this.#target;
      this.#attempt.log("error", `a send to ${service}/${handler} failed: ${result.failure.message}`, {
        command: this.id,
      });
    }
    super.settle(result);
  }

  override cancel(_error: unknown): boolean {
    return false;
  }

  override awaiting(): Awaiting | undefined {
    return undefined;
  }
}
