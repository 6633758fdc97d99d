import { beforeAll, describe, expect, it } from "vitest";
import type { Engine } from "./engine.ts";
import type { BaseImage } from "./image-codec.ts";
import { Instance } from "./instance.ts";
import { MachinePool } from "./machine-pool.ts";
import { does, LIMITS, smallBase, told } from "./testing/small-guest.ts";

let engine: Engine;
let base: BaseImage;
beforeAll(async () => {
  ({ engine, base } = await smallBase());
});

describe("a machine that comes back", () => {
  it("holds its base and nothing else (P1)", () => {
    const pool = new MachinePool(engine);
    const instance = Instance.start(pool, base, LIMITS);
    told(instance, { act: "keep", name: "a", text: "hello" });
    told(instance, { act: "recurse", depth: 500 });
    instance.capture();
    instance.dispose();
    expect(pool.idle).toBe(1);
    const { machine } = pool.take(base, base.memory.length);
    expect(Buffer.compare(machine.memory, base.memory)).toBe(0);
  });

  it("is the next run's, which knows nothing of the one before", () => {
    const pool = new MachinePool(engine);
    const first = Instance.start(pool, base, LIMITS);
    told(first, { act: "keep", name: "a", text: "hello" });
    const image = first.capture();
    first.dispose();
    const second = Instance.start(pool, base, LIMITS);
    expect(pool.idle).toBe(0);
    expect(told(second, { act: "say", name: "a" })).toEqual(["nothing"]);
    second.dispose();
    expect(told(Instance.restore(pool, base, image, LIMITS), { act: "say", name: "a" })).toEqual(["<hello>"]);
  });

  it("is not taken by a run of another base", async () => {
    const pool = new MachinePool(engine);
    Instance.start(pool, base, LIMITS).dispose();
    const { base: other } = await smallBase("other");
    expect(told(Instance.start(pool, other, LIMITS), { act: "say", name: "a" })).toEqual(["nothing"]);
    expect(pool.idle).toBe(1);
  });

  it("is not taken back where it was interrupted (P2)", () => {
    const pool = new MachinePool(engine);
    const instance = Instance.start(pool, base, { ...LIMITS, turnMs: 1 });
    expect(() => instance.turn(does({ act: "loop" }))).toThrow();
    instance.dispose();
    expect(pool.idle).toBe(0);
  });

  it("is not taken back where it has grown by much (P2)", () => {
    const pool = new MachinePool(engine);
    const instance = Instance.start(pool, base, LIMITS);
    told(instance, { act: "grow", name: "bytes", bytes: 8 * 1_048_576 });
    instance.dispose();
    expect(pool.idle).toBe(0);
  });

  it("is for images of its size where it has grown by little (P1, P4)", () => {
    const pool = new MachinePool(engine);
    const grown = Instance.start(pool, base, LIMITS);
    told(grown, { act: "grow", name: "bytes", bytes: 2 * 1_048_576 });
    told(grown, { act: "keep", name: "a", text: "hello" });
    const image = grown.capture();
    const { memoryBytes } = grown;
    grown.dispose();
    expect(pool.idle).toBe(1);

    const fresh = Instance.start(pool, base, LIMITS);
    expect(fresh.memoryBytes).toBe(base.memory.length);
    expect(told(fresh, { act: "say", name: "a" })).toEqual(["nothing"]);

    const { machine } = pool.take(base, memoryBytes);
    expect(machine.memory.length).toBe(memoryBytes);
    expect(Buffer.compare(machine.memory.subarray(0, base.memory.length), base.memory)).toBe(0);
    expect(machine.memory.subarray(base.memory.length).every((byte) => byte === 0)).toBe(true);

    fresh.dispose();
    expect(told(Instance.restore(pool, base, image, LIMITS), { act: "say", name: "a" })).toEqual(["<hello>"]);
  });

  it("is given back once, however often it is let go", () => {
    const pool = new MachinePool(engine);
    const instance = Instance.start(pool, base, LIMITS);
    instance.dispose();
    instance.dispose();
    expect(pool.idle).toBe(1);
    expect(() => instance.turn(does({ act: "say", name: "a" }))).toThrow();
  });
});

describe("a pool", () => {
  it("is as small as what was used at once lately (P3)", () => {
    const pool = new MachinePool(engine);
    const burst = Array.from({ length: 5 }, () => Instance.start(pool, base, LIMITS));
    for (const instance of burst) instance.dispose();
    pool.trim();
    expect(pool.idle).toBe(5); // All of them were used since the last time.
    Instance.start(pool, base, LIMITS).dispose();
    pool.trim();
    expect(pool.idle).toBe(1);
    pool.trim();
    expect(pool.idle).toBe(0);
  });
});
