// What the steps of an attempt write into streams while they run. Items of one tick travel together; before a step says
// that a try has ended, what it wrote is out, so that readers see a step's items before its result.

import type { AttemptReplies, Payload } from "@perdure/protocol";

interface Written {
  readonly stream: string;
  readonly writer: string;
  readonly items: Payload[];
}

export class LiveWrites {
  readonly #replies: AttemptReplies;
  #written: Written[] = [];

  constructor(replies: AttemptReplies) {
    this.#replies = replies;
  }

  add(stream: string, writer: string, items: readonly Payload[]): void {
    if (this.#written.length === 0) void Promise.resolve().then(() => this.flush());
    const same = this.#written.find((written) => written.stream === stream && written.writer === writer);
    if (same === undefined) this.#written.push({ stream, writer, items: [...items] });
    else same.items.push(...items);
  }

  flush(): void {
    if (this.#written.length === 0) return;
    const written = this.#written;
    this.#written = [];
    for (const { stream, writer, items } of written) this.#replies.append(stream, items, writer);
  }

  drop(): void {
    this.#written = [];
  }
}
