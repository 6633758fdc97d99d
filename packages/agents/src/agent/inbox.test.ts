// The inbox against a context of its own: what is told in which order, and what is told when the turn is over.

import { ARRIVAL_SIGNAL, ContextMisuseError, type QueuedMessage, type QueueListing } from "@perdure/protocol";
import type { ObjectContext, RunId } from "@perdure/sdk";
import { expect, test } from "vitest";
import { Inbox } from "./inbox.ts";

const queued = (run: string, policy = "steer"): QueuedMessage => {
  return { run: run as RunId, input: { text: run, policy }, headers: {} };
};

/** As much of a context as an inbox uses. Signals are delivered one by one; after `end` nobody may listen on. */
class FakeContext {
  readonly queue: PromiseWithResolvers<QueueListing> = Promise.withResolvers();
  readonly #arrivals: QueuedMessage[] = [];
  #heard: (() => void) | undefined;
  #hasEnded = false;

  get ctx(): ObjectContext {
    const ctx = {
      signals: (name: string) => (name === ARRIVAL_SIGNAL ? this.#signals() : this.#silence()),
      run: () => ({ output: () => Promise.resolve({ ready: false }) }),
      internals: { getQueue: () => this.queue.promise },
    };
    return ctx as unknown as ObjectContext;
  }

  signal(run: string, policy?: string): void {
    this.#arrivals.push(queued(run, policy));
    this.#heard?.();
  }

  end(): void {
    this.#hasEnded = true;
  }

  async *#signals(): AsyncGenerator<QueuedMessage> {
    for (;;) {
      if (this.#hasEnded) throw new ContextMisuseError("ctx was used after its handler had ended");
      const next = this.#arrivals.shift();
      if (next === undefined) await new Promise<void>((resolve) => (this.#heard = resolve));
      else yield next;
    }
  }

  // oxlint-disable-next-line require-yield
  async *#silence(): AsyncGenerator<never> {
    await new Promise<never>(() => undefined);
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function inboxOn(fake: FakeContext, seen: readonly string[] = []): Inbox {
  return new Inbox(fake.ctx, "the task", undefined, seen as readonly RunId[]);
}

async function runsOf(inbox: Inbox): Promise<readonly string[]> {
  return (await inbox.take()).map(({ run }) => run);
}

test("what queues comes before what a signal tells of, also where the signal is heard first", async () => {
  const fake = new FakeContext();
  const inbox = inboxOn(fake);
  const opened = inbox.open();
  fake.signal("third");
  await settled();
  fake.queue.resolve({ messages: [queued("first"), queued("second"), queued("third")], more: false });
  await opened;
  fake.signal("fourth");
  await settled();
  expect(await runsOf(inbox)).toEqual(["first", "second", "third", "fourth"]);
});

test("what arrives behind messages that were not told of waits for its turn; who interrupts does not", async () => {
  const fake = new FakeContext();
  const inbox = inboxOn(fake);
  fake.queue.resolve({ messages: [queued("first")], more: true });
  expect(await inbox.open()).toBeUndefined();
  fake.signal("behind");
  fake.signal("urgent", "interrupt");
  await settled();
  expect(await runsOf(inbox)).toEqual(["first", "urgent"]);
});

test("a message that an earlier turn has seen is not taken again", async () => {
  const fake = new FakeContext();
  const inbox = inboxOn(fake, ["seen"]);
  fake.queue.resolve({ messages: [queued("seen"), queued("new")], more: false });
  await inbox.open();
  expect(await runsOf(inbox)).toEqual(["new"]);
});

test("a signal that comes as the turn ends is no error", async () => {
  const fake = new FakeContext();
  const inbox = inboxOn(fake);
  fake.queue.resolve({ messages: [], more: false });
  await inbox.open();
  const uncaught: unknown[] = [];
  const note = (error: unknown): void => void uncaught.push(error);
  process.on("unhandledRejection", note);
  inbox.end();
  fake.signal("late");
  await Promise.resolve(); // It is on its way to the inbox; the handler ends.
  fake.end();
  await settled();
  process.off("unhandledRejection", note);
  expect(uncaught).toEqual([]);
});
