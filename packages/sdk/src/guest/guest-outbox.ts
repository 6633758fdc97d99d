// What a guest has to say, gathered until the host takes it. It is also the attempt's side of the conversation.

import type {
  AttemptFailure,
  AttemptReplies,
  Awaiting,
  Command,
  Failure,
  Instant,
  Payload,
  Result,
} from "@perdure/protocol";
import { AssertionError } from "@perdure/protocol";
import type { GuestMessage } from "./wire.ts";

export class GuestOutbox implements AttemptReplies {
  #messages: GuestMessage[] = [];

  add(message: GuestMessage): void {
    this.#messages.push(message);
  }

  take(): readonly GuestMessage[] {
    const taken = this.#messages;
    this.#messages = [];
    return taken;
  }

  command(id: number, command: Command, result?: Result, items?: readonly Payload[]): void {
    this.add({
      type: "command",
      id,
      command,
      ...(result === undefined ? {} : { result }),
      ...(items === undefined ? {} : { items }),
    });
  }

  propose(id: number, result: Result): void {
    this.add({ type: "propose", id, result });
  }

  append(stream: string, items: readonly Payload[], writer: string): void {
    this.add({ type: "append", stream, items, writer });
  }

  retrying(id: number, tries: number, failure: Failure, retryAt: Instant): void {
    this.add({ type: "retrying", id, tries, failure, retryAt });
  }

  end(result: Result): void {
    this.add({ type: "end", result });
  }

  suspend(awaiting: readonly Awaiting[], entriesSeen: number): void {
    this.add({ type: "suspend", awaiting, entriesSeen });
  }

  error(failure: AttemptFailure): void {
    this.add({ type: "error", failure });
  }

  image(): never {
    throw new AssertionError("a guest does not image itself: its host does");
  }

  imageUnusable(): never {
    throw new AssertionError("a guest does not judge its image: its host does");
  }
}
