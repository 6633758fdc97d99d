// Who is next
// ===========
// A queue of lanes, of keys, of items: `interactive` goes before `batch`, in a lane the keys take turns, within a key
// the first to come is the first to go. All of it is linked lists, so that each operation costs the same with ten items as
// with ten thousand, and leaving from the middle costs no more than leaving from the front.
//
// Q1. While a key waits in a lane, no other key of that lane goes twice before it.
// Q2. Batch goes only where no interactive item waits, but for one after `INTERACTIVE_RUN_MAX`, so that it never starves.
// Q3. What was put in comes out exactly once: by `shift` or by `remove`.

import { type Link, LinkedList } from "./linked-list.ts";

export type Lane = "interactive" | "batch";

/** So many interactive items may go in a row while a batch item waits. */
export const INTERACTIVE_RUN_MAX = 20;

/** Where an item stands; for `remove`. */
export interface Place<T> {
  readonly lane: Lane;
  readonly key: string;
  readonly link: Link<T>;
}

export class FairQueue<T> {
  readonly #lanes: Readonly<Record<Lane, LaneQueue<T>>> = {
    interactive: new LaneQueue<T>(),
    batch: new LaneQueue<T>(),
  };
  #interactiveRun = 0;

  size(lane: Lane): number {
    return this.#lanes[lane].size;
  }

  get isEmpty(): boolean {
    return this.#lanes.interactive.size + this.#lanes.batch.size === 0;
  }

  push(lane: Lane, key: string, item: T): Place<T> {
    return { lane, key, link: this.#lanes[lane].push(key, item) };
  }

  /** What `shift` would take. */
  peek(): T | undefined {
    return this.#lanes[this.#nextLane()].peek();
  }

  shift(): T | undefined {
    const lane = this.#nextLane();
    const isPassingBy = lane === "interactive" && this.#lanes.batch.size > 0;
    this.#interactiveRun = isPassingBy ? this.#interactiveRun + 1 : 0;
    return this.#lanes[lane].shift();
  }

  /** False where it has left already. */
  remove(place: Place<T>): boolean {
    return this.#lanes[place.lane].remove(place);
  }

  #nextLane(): Lane {
    const { interactive, batch } = this.#lanes;
    if (interactive.size === 0) return "batch";
    return batch.size > 0 && this.#interactiveRun >= INTERACTIVE_RUN_MAX ? "batch" : "interactive";
  }
}

interface KeyQueue<T> {
  readonly key: string;
  readonly items: LinkedList<T>;
}

class LaneQueue<T> {
  /** Keys that wait, in the order of their turns. */
  readonly #turns: LinkedList<KeyQueue<T>> = new LinkedList();
  readonly #byKey: Map<string, Link<KeyQueue<T>>> = new Map();
  size = 0;

  push(key: string, item: T): Link<T> {
    let turn = this.#byKey.get(key);
    if (turn === undefined) {
      turn = this.#turns.push({ key, items: new LinkedList() });
      this.#byKey.set(key, turn);
    }
    this.size += 1;
    return turn.value.items.push(item);
  }

  peek(): T | undefined {
    return this.#turns.first?.items.first;
  }

  shift(): T | undefined {
    const queue = this.#turns.shift();
    if (queue === undefined) return undefined;
    const item = queue.items.shift();
    this.size -= 1;
    if (queue.items.size === 0) this.#byKey.delete(queue.key);
    else this.#byKey.set(queue.key, this.#turns.push(queue)); // Its turn is over: behind the others.
    return item;
  }

  remove({ key, link }: Place<T>): boolean {
    const turn = this.#byKey.get(key);
    if (turn === undefined || !turn.value.items.remove(link)) return false;
    this.size -= 1;
    if (turn.value.items.size > 0) return true;
    this.#turns.remove(turn);
    this.#byKey.delete(key);
    return true;
  }
}
