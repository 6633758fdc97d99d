// Waits: promises that the journal settles
// ========================================
// One per command that something completes later. A wait is registered when its command is asked for, and settled by
// the entry that completes the command, on replay as live.
//
// W1. A wait is settled once: by its result, or by a cancel. What arrives after a cancel finds no wait, and is dropped.
// W2. A wait that is rejected never becomes an unhandled rejection: code may hold the promise and look at it later.
// W3. An attempt that is over leaves its waits unsettled for ever; nothing refers to them then but the code itself.

import type { Awaiting, CommandEntry, Result } from "@perdure/protocol";
import { errorFromFailure } from "@perdure/protocol";
import { decode } from "../json.ts";
import { ignoreRejection } from "./promises.ts";

export class Wait {
  readonly id: number;
  readonly promise: Promise<unknown>;
  /** A cancel does not end it: the entry of its command is still to come, and tells it something. */
  lingers = false;
  /** That entry was the last thing it waited for. */
  done = false;
  protected resolve!: (value: unknown) => void;
  protected refuse!: (error: unknown) => void;

  constructor(id: number) {
    this.id = id;
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.refuse = reject;
    });
  }

  /** The command is in the journal, without a result. True: code saw something. */
  journaled(_entry: CommandEntry): boolean {
    return false;
  }

  settle(result: Result): void {
    if (result.kind === "void") this.resolve(undefined);
    else if (result.kind === "failure") this.reject(errorFromFailure(result.failure));
    else {
      try {
        this.resolve(this.read(decode(result.value)));
      } catch (error) {
        this.reject(error);
      }
    }
  }

  /** What code sees of a value. */
  protected read(value: unknown): unknown {
    return value;
  }

  reject(error: unknown): void {
    ignoreRejection(this.promise); // W2
    this.refuse(error);
  }

  /** The run was cancelled while code waited for this. False: it is settled in any case, soon. */
  cancel(error: unknown): boolean {
    this.reject(error);
    return true;
  }

  /** The attempt is over. */
  drop(): void {}

  /** What has to happen before this can go on; undefined while something is under way here. */
  awaiting(): Awaiting | undefined {
    return { kind: "completion", id: this.id };
  }
}
