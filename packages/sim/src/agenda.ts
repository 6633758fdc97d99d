// The agenda: what is going to happen, in order of time. Things of one tick happen in the order in which they were added.

interface Item {
  readonly tick: number;
  readonly order: number;
  readonly callback: () => void;
  cancelled: boolean;
}

export class Agenda {
  readonly #heap: Item[] = [];
  #order = 0;
  #tick = 0;

  /** Milliseconds since the world began. */
  get tick(): number {
    return this.#tick;
  }

  get size(): number {
    return this.#heap.length;
  }

  /** Calls back `inMs` from now. Returns what cancels it. */
  after(inMs: number, callback: () => void): () => void {
    const item: Item = {
      tick: this.#tick + Math.max(0, Math.ceil(inMs)),
      order: this.#order++,
      callback,
      cancelled: false,
    };
    this.#push(item);
    return () => {
      item.cancelled = true;
    };
  }

  /** Does the next thing; false where there is none. */
  step(): boolean {
    for (let item = this.#pop(); item !== undefined; item = this.#pop()) {
      if (item.cancelled) continue;
      this.#tick = item.tick;
      item.callback();
      return true;
    }
    return false;
  }

  #push(item: Item): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(item);
    while (at > 0) {
      const up = (at - 1) >> 1;
      const parent = heap[up] as Item;
      if (before(parent, item)) break;
      heap[at] = parent;
      at = up;
    }
    heap[at] = item;
  }

  #pop(): Item | undefined {
    const heap = this.#heap;
    const top = heap[0];
    const last = heap.pop();
    if (top === undefined || last === undefined || heap.length === 0) return top;
    let at = 0;
    for (;;) {
      let down = 2 * at + 1;
      if (down >= heap.length) break;
      if (down + 1 < heap.length && before(heap[down + 1] as Item, heap[down] as Item)) down += 1;
      if (before(last, heap[down] as Item)) break;
      heap[at] = heap[down] as Item;
      at = down;
    }
    heap[at] = last;
    return top;
  }
}

function before(a: Item, b: Item): boolean {
  return a.tick < b.tick || (a.tick === b.tick && a.order < b.order);
}
