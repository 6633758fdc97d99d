// One thread, on a clock that is moved: when its instances are imaged, and when they are let go.

import { type Entry, valueResult } from "@perdure/protocol";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { baseOf, LIMITS, RUN_ID, START_TIME } from "../../test/isolate/heap-run.ts";
import { IsolateThread } from "./isolate-thread.ts";
import type { FromThread, ImagePolicy } from "./thread-messages.ts";

vi.setConfig({ testTimeout: 60_000 });

let loaded: Awaited<ReturnType<typeof baseOf>>;
beforeAll(async () => {
  loaded = await baseOf("./traps.ts");
}, 60_000);

const NEVER = Number.POSITIVE_INFINITY;
const POLICY: ImagePolicy = {
  warmMs: NEVER,
  everyEntries: NEVER,
  afterCallMs: NEVER,
  warmMax: NEVER,
  tailEntries: 0,
  tailRunMs: 0,
};

interface StartFrom {
  readonly entry: number;
  readonly bytes: Uint8Array;
}

class Bench {
  readonly said: FromThread[] = [];
  readonly thread: IsolateThread;
  now = START_TIME;
  #timers: { readonly at: number; readonly fire: () => void }[] = [];

  constructor(policy: Partial<ImagePolicy>, turnMs: number = LIMITS.turnMs) {
    const options = { limits: { ...LIMITS, turnMs }, policy: { ...POLICY, ...policy } };
    this.thread = new IsolateThread(loaded.engine.engine, options, (message) => this.said.push(message), {
      now: () => this.now,
      delay: (ms, fire) => {
        const timer = { at: this.now + ms, fire };
        this.#timers.push(timer);
        return () => {
          this.#timers = this.#timers.filter((other) => other !== timer);
        };
      },
    });
    this.thread.hear({ type: "base", base: loaded.base });
  }

  start(attempt: number, handler: string, input: unknown = null, image: StartFrom | null = null): void {
    this.thread.hear({
      type: "start",
      attempt,
      base: loaded.base.hash,
      image,
      start: {
        run: RUN_ID,
        service: "traps",
        handler,
        key: null,
        mode: "service",
        input: JSON.stringify(input),
        headers: {},
        idempotencyKey: null,
        generation: 0,
        createdAt: START_TIME,
        deployment: null,
        origin: null,
        migrated: null,
        entries: [],
        state: null,
        tries: 0,
      },
    });
  }

  signal(attempt: number, index: number, signal = "go"): void {
    const entry: Entry = { kind: "signal", index, at: this.now, signal, payload: valueResult("1") };
    this.thread.hear({ type: "notify", attempt, entries: [entry] });
  }

  advance(ms: number): void {
    const until = this.now + ms;
    for (;;) {
      const next = this.#timers.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.now = next.at;
      next.fire();
    }
    this.now = until;
  }

  /** What was said of an attempt since the last time, in short. */
  heard(attempt: number): readonly string[] {
    const mine = this.said.filter((message) => "attempt" in message && message.attempt === attempt);
    this.said.splice(0, this.said.length, ...this.said.filter((message) => !mine.includes(message)));
    return mine.flatMap((message) => {
      if (message.type === "said") return message.messages.map(({ type }) => type);
      if (message.type === "image") return [`image ${message.image.entry}`];
      return message.type === "failed" ? [`failed ${message.failure.errorCode} ${message.behavior}`] : [message.type];
    });
  }
}

describe("an instance that waits is let go", () => {
  test("after so long, imaged first (H2)", () => {
    const bench = new Bench({ warmMs: 1_000 });
    bench.start(1, "patient");
    bench.signal(1, 1);
    bench.heard(1);
    bench.advance(900);
    expect(bench.heard(1)).toEqual([]);
    bench.advance(400);
    expect(bench.heard(1)).toEqual(["image 1", "suspend", "released"]);
  });

  test("not while it is given something to do: the time begins anew", () => {
    const bench = new Bench({ warmMs: 1_000 });
    bench.start(1, "patient");
    bench.advance(900);
    bench.signal(1, 1);
    bench.advance(900);
    expect(bench.heard(1)).toEqual([]);
  });

  test("when the engine asks, and without an image where nothing came since the newest", () => {
    const bench = new Bench({});
    bench.start(1, "patient");
    bench.thread.hear({ type: "yield", attempt: 1 });
    expect(bench.heard(1)).toEqual(["suspend", "released"]);
  });

  test("where more wait than may: the one that has waited longest", () => {
    const bench = new Bench({ warmMax: 2 });
    bench.start(1, "patient");
    bench.start(2, "patient");
    bench.advance(1);
    bench.signal(1, 1); // Now the second has waited longest.
    expect([bench.heard(1), bench.heard(2)]).toEqual([[], []]);
    bench.start(3, "patient");
    expect([bench.heard(1), bench.heard(2), bench.heard(3)]).toEqual([[], ["suspend", "released"], []]);
  });

  test("having seen its image: own commands that nobody told it of stand before, and are not missed", () => {
    const bench = new Bench({ everyEntries: 1 });
    bench.start(1, "patient");
    bench.signal(1, 1);
    const image = bench.said.find((message) => message.type === "image")?.image;
    expect(image?.entry).toBe(1);
    bench.start(2, "patient", null, { entry: 5, bytes: image?.bytes ?? new Uint8Array(0) });
    bench.thread.hear({ type: "yield", attempt: 2 });
    const words = bench.said.flatMap((message) => (message.type === "said" ? message.messages : []));
    expect(words.at(-1)).toMatchObject({ type: "suspend", entriesSeen: 5 });
  });

  test("to make room, also as soon as one waits", () => {
    const bench = new Bench({});
    bench.thread.hear({ type: "makeRoom", count: 1 });
    bench.start(1, "patient");
    expect(bench.heard(1)).toEqual(["suspend", "released"]);
    bench.start(2, "patient");
    expect(bench.heard(2)).toEqual([]);
  });

  test("without an image where it would be met again sooner than read", () => {
    const bench = new Bench({ tailEntries: 5, tailRunMs: NEVER });
    bench.start(1, "patient");
    bench.signal(1, 1);
    bench.thread.hear({ type: "yield", attempt: 1 });
    expect(bench.heard(1)).toEqual(["suspend", "released"]);
  });
});

describe("an image is taken", () => {
  test("every so many entries, and no more often", () => {
    const bench = new Bench({ everyEntries: 3 });
    bench.start(1, "turns", 20);
    bench.heard(1);
    const images: string[] = [];
    for (let entry = 1; entry <= 7; entry += 1) {
      bench.signal(1, entry, `other ${entry}`);
      images.push(...bench.heard(1));
    }
    expect(images).toEqual(["image 3", "image 6"]);
  });

  test("after a call that took long, of what came of it", () => {
    const bench = new Bench({ afterCallMs: 1_000 });
    bench.start(1, "calls");
    expect(bench.heard(1)).toEqual(["command", "call"]);
    bench.advance(999);
    bench.thread.hear({ type: "callEnded", attempt: 1, call: 1, outcome: { kind: "value", value: "quick" } });
    bench.thread.hear({ type: "notify", attempt: 1, entries: [stepDone(1, 1)] });
    expect(bench.heard(1)).toEqual(["propose", "command", "call"]);
    bench.advance(1_000);
    bench.thread.hear({ type: "callEnded", attempt: 1, call: 2, outcome: { kind: "value", value: "slow" } });
    bench.thread.hear({ type: "notify", attempt: 1, entries: [stepDone(2, 2)] });
    expect(bench.heard(1).filter((what) => what.startsWith("image"))).not.toEqual([]);
  });
});

const stepDone = (index: number, id: number): Entry => ({
  kind: "command",
  index,
  at: START_TIME,
  id,
  command: { type: "step", name: `call ${id}` },
  result: valueResult('"done"'),
});

describe("H3: a guest that fails costs itself only", () => {
  test("one that never waits is ended and paused; the other of the thread goes on", () => {
    const bench = new Bench({}, 2_000);
    bench.start(1, "patient");
    bench.start(2, "loop");
    bench.signal(2, 1);
    expect(bench.heard(2)).toEqual(["failed P0102 pause", "released"]);
    bench.signal(1, 1);
    bench.signal(1, 2, "again");
    expect(bench.heard(1)).toEqual(["end", "released"]);
  });

  test("an image that cannot be read is said so, and nothing of it runs; a base that was not given is our own mistake", () => {
    const bench = new Bench({});
    bench.thread.hear({
      type: "start",
      attempt: 2,
      base: loaded.base.hash,
      image: { entry: 3, bytes: new Uint8Array(5) },
      start: {} as never,
    });
    expect(bench.heard(2)).toEqual(["imageUnusable", "released"]);
    bench.thread.hear({ type: "start", attempt: 3, base: "unknown", image: null, start: {} as never });
    expect(bench.heard(3)).toEqual(["failed undefined retry", "released"]);
  });

  test("an aborted attempt says nothing more, and its timers are gone", () => {
    const bench = new Bench({});
    bench.start(1, "patient");
    bench.heard(1);
    bench.thread.hear({ type: "abort", attempt: 1 });
    bench.signal(1, 1);
    bench.advance(1_000_000);
    expect(bench.heard(1)).toEqual(["released"]);
  });
});
