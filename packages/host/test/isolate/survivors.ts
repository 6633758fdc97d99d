// What a heap is made of, in handlers that wait in the middle of it: all of it has to be there after an image.

import { service } from "@perdure/sdk";

class Account {
  #balance = 0;
  static #opened = 0;
  readonly number: number;
  constructor() {
    Account.#opened += 1;
    this.number = Account.#opened;
  }
  pay(amount: number): this {
    this.#balance += amount;
    return this;
  }
  get balance(): number {
    return this.#balance;
  }
  static has(value: object): boolean {
    return #balance in value;
  }
}

const TAG: unique symbol = Symbol("tag");

export const survivors = service("survivors", {
  async promises(ctx) {
    const { promise, resolve } = Promise.withResolvers<string>();
    const chained = promise.then((text) => `${text}!`).finally(() => seen.push("finally"));
    const seen: string[] = [];
    const rejected = Promise.reject(new RangeError("kept"));
    rejected.catch(() => undefined);
    const all = Promise.all([chained, ctx.signal<string>("a"), Promise.resolve(3)]);
    const race = Promise.race([ctx.signal<string>("never"), chained.then((text) => `race ${text}`)]);
    const any = Promise.any([rejected, ctx.signal<string>("b")]);
    const settled = Promise.allSettled([rejected, chained]);
    await ctx.signal("go");
    resolve("resolved");
    const reasons = (await settled).map((result) =>
      result.status === "rejected" ? String(result.reason) : result.value,
    );
    return { all: await all, race: await race, any: await any, reasons, seen };
  },
  async generators(ctx) {
    async function* numbers(): AsyncGenerator<number, string, string | undefined> {
      try {
        for (let n = 0; ; n += 1) {
          await ctx.sleep("1s");
          const told = yield n;
          notes.push(told ?? "nothing");
        }
      } finally {
        await ctx.sleep("1s");
        notes.push("closed");
      }
    }
    function* letters(): Generator<string> {
      try {
        yield* ["a", "b", "c"];
      } finally {
        notes.push("letters closed");
      }
    }
    const notes: string[] = [];
    const iterator = letters();
    const first = iterator.next().value as string;
    const seen: number[] = [];
    for await (const n of numbers()) {
      seen.push(n);
      if (n === 2) break;
    }
    const manual = numbers();
    await manual.next();
    await manual.next("told");
    await ctx.sleep("1s");
    await manual.return("enough");
    const rest = iterator.next().value as string;
    iterator.return(undefined);
    return { seen, notes, letters: first + rest, mapped: Array.from([1, 2, 3].entries(), ([at, n]) => at * n) };
  },
  async control(ctx) {
    const notes: string[] = [];
    const inner = async (): Promise<string> => {
      try {
        await ctx.sleep("1s");
        throw new TypeError("thrown");
      } catch (error) {
        await ctx.sleep("1s");
        notes.push(error instanceof TypeError ? error.message : "another class");
        return "returned";
      } finally {
        await ctx.sleep("1s");
        notes.push("finally");
      }
    };
    outer: for (const a of [1, 2, 3]) {
      for (const b of [1, 2, 3]) {
        await ctx.sleep("1s");
        if (b === 2) continue outer;
        if (a === 3) break outer;
        notes.push(`${a}${b}`);
      }
    }
    return { returned: await inner(), notes };
  },
  async values(ctx) {
    let count = 0;
    const increment = (): number => (count += 1);
    const account = new Account().pay(5);
    const weak = new WeakMap<object, string>([[account, "weakly held"]]);
    const set = new WeakSet([account]);
    const ref = new WeakRef(account);
    const map = new Map<unknown, unknown>([
      ["k", 1],
      [account, "by identity"],
      [Number.NaN, "nan"],
    ]);
    const tagged = {
      [TAG]: "tagged",
      [Symbol.for("shared")]: "shared",
      get lazily() {
        return increment();
      },
    };
    // oxlint-disable-next-line no-sparse-arrays -- A hole is what is looked for.
    const frozen = Object.freeze({ list: [1, , 3] });
    const big = 2n ** 100n;
    const bytes = new Uint8Array([1, 2, 3]);
    const view = new DataView(bytes.buffer);
    const date = new Date(5);
    const pattern = /(?<word>\w+)/g;
    const text = "first second";
    pattern.exec(text);
    const proxy = new Proxy({ a: 1 }, { get: (target, name) => (name === "a" ? target.a + 41 : undefined) });
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    increment();
    await ctx.sleep("1s");
    account.pay(7);
    view.setUint8(0, 9);
    return {
      closures: [increment(), tagged.lazily, count],
      private: [account.balance, account.number, Account.has(account), Account.has({}), new Account().number],
      weak: [weak.get(account), set.has(account), ref.deref() === account],
      map: [map.get("k"), map.get(account), map.get(Number.NaN), [...map.keys()].length],
      symbols: [tagged[TAG], (tagged as never)[Symbol.for("shared")], String(TAG)],
      frozen: [Object.isFrozen(frozen), 1 in frozen.list],
      big: big.toString(),
      bytes: [...bytes],
      date: date.toISOString(),
      pattern: pattern.exec(text)?.groups?.["word"],
      proxy: proxy.a,
      cycle: cycle.self === cycle,
      unique: new Set([1, 1, "1"]).size,
    };
  },
  async disposal(ctx) {
    const notes: string[] = [];
    const held = (name: string): Disposable & AsyncDisposable => ({
      [Symbol.dispose]: () => void notes.push(`dispose ${name}`),
      [Symbol.asyncDispose]: async () => {
        await ctx.sleep("1s");
        notes.push(`later dispose ${name}`);
      },
    });
    {
      using first = held("first");
      await using second = held("second");
      await ctx.sleep("1s");
      notes.push(`body ${typeof first} ${typeof second}`);
    }
    return notes;
  },
  async clocks(ctx) {
    const notes: string[] = [];
    setTimeout(() => notes.push("timeout"), 2_000);
    const cleared = setTimeout(() => notes.push("never"), 1_000);
    const started = Date.now();
    await ctx.sleep("500ms");
    clearTimeout(cleared);
    const timed = Date.now() - started;
    await ctx.sleep("3s");
    notes.push(`${timed} ${Date.now() - started}`);
    return { notes, chance: [Math.random(), Math.random()], time: typeof performance.now() };
  },
  async signals(ctx) {
    const notes: string[] = [];
    const controller = new AbortController();
    const any = AbortSignal.any([controller.signal]);
    any.addEventListener("abort", () => notes.push(`aborted: ${String(any.reason)}`), { once: true });
    await ctx.sleep("1s");
    controller.abort("enough");
    const value = await ctx.step("reads its signal", async ({ signal }) => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return signal.aborted;
    });
    return { notes, aborted: any.aborted, value };
  },
  async steps(ctx) {
    const keys: string[] = [];
    const one = await ctx.step("one", ({ idempotencyKey }) => idempotencyKey.slice(-2));
    let tries = 0;
    const flaky = await ctx.step("flaky", ({ attempt }) => {
      tries += 1;
      if (attempt < 3) throw new Error(`try ${attempt}`);
      return attempt;
    });
    const many = await Promise.all([1, 2, 3].map((n) => ctx.step(`n${n}`, () => n * n)));
    keys.push(one);
    return { keys, flaky, many, ranHere: tries <= 3 };
  },
});
