// Handles on other runs, inside a handler.

import type { Result, RunId } from "@perdure/protocol";
import { CANCEL_SIGNAL, NotReadyError, VOID } from "@perdure/protocol";
import type { ChildHandle, RunHandle, RunOutput } from "../context/calls.ts";
import { encodeResult } from "../json.ts";
import type { CallWait } from "./child-waits.ts";
import type { ReplayAttempt } from "./replay-attempt.ts";
import { Wait } from "./wait.ts";

export class RunReference<T> implements RunHandle<T> {
  readonly #attempt: ReplayAttempt;
  readonly id: RunId;

  constructor(attempt: ReplayAttempt, id: RunId) {
    this.#attempt = attempt;
    this.id = id;
  }

  result(): Promise<T> {
    return this.#attempt.request({ type: "attach", ref: { run: this.id } }) as Promise<T>;
  }

  output(): Promise<RunOutput<T>> {
    const attempt = this.#attempt;
    const refusal = attempt.refusal();
    return (
      refusal ??
      (attempt.await(new OutputWait(attempt.issue({ type: "output", ref: { run: this.id } }))) as Promise<RunOutput<T>>)
    );
  }

  signal(name: string, value?: unknown): void {
    signalRun(this.#attempt, this.id, name, value);
  }

  cancel(): void {
    cancelRun(this.#attempt, this.id);
  }
}

/** The run behind a call: its id is known a little later. */
export class ChildReference implements ChildHandle {
  readonly #attempt: ReplayAttempt;
  readonly #wait: CallWait;

  constructor(attempt: ReplayAttempt, wait: CallWait) {
    this.#attempt = attempt;
    this.#wait = wait;
  }

  id(): Promise<RunId> {
    return this.#wait.childId();
  }

  async signal(name: string, value?: unknown): Promise<void> {
    signalRun(this.#attempt, await this.id(), name, value);
  }

  async cancel(): Promise<void> {
    cancelRun(this.#attempt, await this.id());
  }
}

function signalRun(attempt: ReplayAttempt, run: RunId, name: string, value: unknown): void {
  const payload = encodeResult(value, `the value of signal "${name}"`);
  if (attempt.allowed()) attempt.issue({ type: "sendSignal", run, signal: name, payload });
}

function cancelRun(attempt: ReplayAttempt, run: RunId): void {
  if (attempt.allowed()) attempt.issue({ type: "sendSignal", run, signal: CANCEL_SIGNAL, payload: VOID });
}

/** The output of a run, if it has ended. */
class OutputWait extends Wait {
  override settle(result: Result): void {
    if (result.kind === "failure" && result.failure.errorCode === NotReadyError.code) this.resolve({ ready: false });
    else if (result.kind === "void") this.resolve({ ready: true, value: undefined });
    else super.settle(result);
  }

  protected override read(value: unknown): unknown {
    return { ready: true, value };
  }
}

/** For a call that was refused: there is no run behind it. */
export function refusedHandle(refusal: Promise<never>): ChildHandle {
  const refuse = (): Promise<never> => refusal;
  return { id: refuse, signal: refuse, cancel: refuse };
}
