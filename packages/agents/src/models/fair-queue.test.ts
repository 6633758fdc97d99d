import { assert } from "@perdure/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FairQueue, INTERACTIVE_RUN_MAX, type Lane, type Place } from "./fair-queue.ts";

const lane = fc.constantFrom<Lane>("interactive", "batch");
const key = fc.constantFrom("a", "b", "c");
const action = fc.oneof(
  fc.record({ do: fc.constant("push" as const), lane, key }),
  fc.record({ do: fc.constant("shift" as const) }),
  fc.record({ do: fc.constant("remove" as const), at: fc.nat(50) }),
);

interface Item {
  readonly lane: Lane;
  readonly key: string;
  readonly serial: number;
}

/** A queue, and everything that is in it, so that what comes out can be judged. */
class Watched {
  readonly queue: FairQueue<Item> = new FairQueue();
  inside: { item: Item; place: Place<Item> }[] = [];
  readonly out: number[] = [];
  pushed = 0;

  push(to: Lane, by: string): void {
    const item = { lane: to, key: by, serial: this.pushed };
    this.pushed += 1;
    this.inside.push({ item, place: this.queue.push(to, by, item) });
  }

  remove(at: number): void {
    const found = this.inside[at];
    if (found === undefined) return;
    assert(this.queue.remove(found.place), "what is inside can leave");
    assert(!this.queue.remove(found.place), "and leaves once");
    this.#left(found.item);
  }

  shift(): Item | undefined {
    const peeked = this.queue.peek();
    const item = this.queue.shift();
    assert(item === peeked, "peek tells what shift takes");
    assert((item === undefined) === (this.inside.length === 0), "it gives as long as it has");
    if (item !== undefined) this.#left(item);
    return item;
  }

  waits(of: Lane): Item[] {
    return this.inside.map(({ item }) => item).filter((item) => item.lane === of);
  }

  #left(item: Item): void {
    this.inside = this.inside.filter((other) => other.item !== item);
    this.out.push(item.serial);
  }
}

describe("the queue", () => {
  it("Q3: gives back exactly what was put in, in order within a key", () => {
    const run = (actions: readonly (typeof action extends fc.Arbitrary<infer A> ? A : never)[]) => {
      const watched = new Watched();
      for (const step of actions) {
        if (step.do === "push") watched.push(step.lane, step.key);
        else if (step.do === "remove") watched.remove(step.at);
        else {
          const item = watched.shift();
          const older = watched.inside.filter((other) => other.item.lane === item?.lane && other.item.key === item.key);
          expect(older.every((other) => other.item.serial > (item?.serial ?? -1))).toBe(true);
        }
        expect(watched.queue.size("interactive")).toBe(watched.waits("interactive").length);
        expect(watched.queue.size("batch")).toBe(watched.waits("batch").length);
      }
      while (!watched.queue.isEmpty) watched.shift();
      expect(watched.out.toSorted((a, b) => a - b)).toEqual(Array.from({ length: watched.pushed }, (_, i) => i));
    };
    fc.assert(fc.property(fc.array(action, { maxLength: 200 }), run));
  });

  it("Q1: while a key waits, no other key of its lane goes twice", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(key, fc.constant(undefined)), { maxLength: 200 }), (steps) => {
        const watched = new Watched();
        /** For each key that waits: who went since it began to wait, or went itself. */
        const passedBy = new Map<string, Set<string>>();
        for (const step of steps) {
          if (step !== undefined) {
            if (!passedBy.has(step)) passedBy.set(step, new Set());
            watched.push("interactive", step);
            continue;
          }
          const gone = watched.shift()?.key;
          if (gone === undefined) continue;
          for (const [waiting, seen] of passedBy) {
            if (waiting === gone) continue;
            expect(seen.has(gone), `${gone} went twice before ${waiting}`).toBe(false);
            seen.add(gone);
          }
          if (watched.waits("interactive").some((item) => item.key === gone)) passedBy.set(gone, new Set());
          else passedBy.delete(gone);
        }
      }),
    );
  });

  it("lets a key go next beside ten thousand of another", () => {
    const queue = new FairQueue<string>();
    for (let i = 0; i < 10_000; i += 1) queue.push("interactive", "busy", "busy");
    queue.shift();
    queue.push("interactive", "quiet", "quiet");
    expect([queue.shift(), queue.shift(), queue.shift()]).toEqual(["busy", "quiet", "busy"]);
  });

  it("Q2: interactive goes first, and batch is not starved", () => {
    const queue = new FairQueue<Lane>();
    queue.push("batch", "b", "batch");
    for (let i = 0; i < 3 * INTERACTIVE_RUN_MAX; i += 1) queue.push("interactive", "a", "interactive");
    queue.push("batch", "b", "batch");
    const order = Array.from({ length: 3 * INTERACTIVE_RUN_MAX + 2 }, () => queue.shift());
    const at = order.flatMap((gone, index) => (gone === "batch" ? [index] : []));
    expect(at).toEqual([INTERACTIVE_RUN_MAX, 2 * INTERACTIVE_RUN_MAX + 1]);
  });
});
