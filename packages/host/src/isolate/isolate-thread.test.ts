import { beforeAll, describe, expect, it } from "vitest";
import type { BaseImage } from "./image-codec.ts";
import type { Engine } from "./engine.ts";
import { IsolateThread, type ThreadPorts } from "./isolate-thread.ts";
import { type Act, LIMITS, smallBase, START } from "./testing/small-guest.ts";
import type { FromThread, ImagePolicy } from "./thread-messages.ts";

let engine: Engine;
let base: BaseImage;
beforeAll(async () => {
  ({ engine, base } = await smallBase());
});

const POLICY: ImagePolicy = {
  warmMs: 1_000,
  everyEntries: 1_000,
  afterCallMs: 10_000,
  warmMax: 10,
  tailEntries: 16,
  tailRunMs: 60_000,
};

class World implements ThreadPorts {
  readonly said: FromThread[] = [];
  readonly thread: IsolateThread;
  #now = 0;
  #timers: { readonly at: number; readonly callback: () => void }[] = [];

  constructor(policy: Partial<ImagePolicy> = {}) {
    const options = { limits: LIMITS, policy: { ...POLICY, ...policy } };
    this.thread = new IsolateThread(engine, options, (message) => this.said.push(message), this);
    this.thread.hear({ type: "base", base });
  }

  now(): number {
    return this.#now;
  }

  delay(ms: number, callback: () => void): () => void {
    const timer = { at: this.#now + ms, callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((one) => one !== timer);
    };
  }

  advance(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      const due = this.#timers.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#timers = this.#timers.filter((one) => one !== due);
      this.#now = due.at;
      due.callback();
    }
    this.#now = until;
  }

  start(attempt: number, image: { readonly entry: number; readonly bytes: Uint8Array } | null = null): void {
    this.thread.hear({ type: "start", attempt, base: base.hash, start: START, image });
  }

  act(attempt: number, act: Act): void {
    this.thread.hear({ type: "callEnded", attempt, call: 1, outcome: { kind: "value", value: act } });
  }

  /** What was said of an attempt, in short. */
  of(attempt: number): readonly string[] {
    return this.said.flatMap((message) => {
      if (!("attempt" in message) || message.attempt !== attempt) return [];
      if (message.type !== "said") return [message.type];
      return message.messages.map((one) => one.type);
    });
  }
}

describe("what waits", () => {
  it("is let go after its time, and imaged before (H2)", () => {
    const world = new World();
    world.start(1);
    world.act(1, { act: "wait", at: 16 });
    world.advance(900);
    expect(world.of(1)).toEqual([]);
    world.advance(600);
    expect(world.of(1)).toEqual(["image", "suspend", "released"]);
  });

  it("is not imaged where little came since its newest image", () => {
    const world = new World();
    world.start(1);
    world.act(1, { act: "wait", at: 15 });
    world.advance(1_500);
    expect(world.of(1)).toEqual(["suspend", "released"]);
  });

  it("counts what came since the image that it was started from", () => {
    const first = new World();
    first.start(1);
    first.act(1, { act: "wait", at: 20 });
    first.advance(1_500);
    const image = first.said.find((message) => message.type === "image")?.image;
    expect(image?.entry).toBe(20);
    const bytes = image?.bytes ?? new Uint8Array(0);
    for (const [at, isImaged] of [
      [35, false],
      [36, true],
    ] as const) {
      const world = new World();
      world.start(1, { entry: 20, bytes });
      world.act(1, { act: "wait", at });
      world.advance(1_500);
      expect(world.of(1).includes("image")).toBe(isImaged);
    }
  });

  it("is imaged also where it was imaged while it ran: that one may have been refused", () => {
    const world = new World({ everyEntries: 16 });
    world.start(1);
    world.act(1, { act: "wait", at: 16 });
    world.act(1, { act: "wait", at: 18 });
    world.advance(1_500);
    expect(world.of(1)).toEqual(["image", "image", "suspend", "released"]);
  });

  it("is imaged where its code has run for long since", () => {
    const world = new World({ tailRunMs: 0 });
    world.start(1);
    world.act(1, { act: "wait", at: 1 });
    world.advance(1_500);
    expect(world.of(1)).toEqual(["image", "suspend", "released"]);
  });

  it("is let go at once where too many wait, the one that waited longest first", () => {
    const world = new World({ warmMax: 2 });
    for (const attempt of [1, 2, 3]) {
      world.start(attempt);
      world.advance(10);
      world.act(attempt, { act: "wait", at: 1 });
    }
    expect([1, 2, 3].map((attempt) => world.of(attempt).includes("released"))).toEqual([true, false, false]);
    world.act(2, { act: "wait", at: 2 }); // It has seen something: 3 has waited longer now.
    world.start(4);
    world.act(4, { act: "wait", at: 1 });
    expect([2, 3, 4].map((attempt) => world.of(attempt).includes("released"))).toEqual([false, true, false]);
  });
});

describe("a guest that fails", () => {
  it("costs itself only (H3)", () => {
    const world = new World();
    world.start(1);
    world.start(2);
    world.act(1, { act: "recurse", depth: 1_000_000 });
    world.act(2, { act: "recurse", depth: 3 });
    expect(world.of(1)).toEqual(["failed", "released"]);
    expect(world.of(2)).toEqual(["log"]);
  });
});

describe("an image that cannot be used", () => {
  it("is said, and nothing runs", () => {
    const world = new World();
    world.start(1, { entry: 3, bytes: new Uint8Array(200) });
    expect(world.of(1)).toEqual(["imageUnusable", "released"]);
  });
});
