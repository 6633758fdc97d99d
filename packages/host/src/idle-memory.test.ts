import { describe, expect, test } from "vitest";
import { idleWatch } from "./idle-memory.ts";

const MIB = 1024 * 1024;

function world(
  total: number,
  live: number,
): { heap: { total(): number; collect(): void }; collections: number; batches: number; total: number } {
  const state = {
    total,
    collections: 0,
    batches: 0,
    heap: {
      total: () => state.total,
      collect: () => {
        state.collections += 1;
        state.total = live;
      },
    },
  };
  return state;
}

describe("memory is given back", () => {
  test("once nothing has been decided for a while, and only once", () => {
    const state = world(500 * MIB, 20 * MIB);
    const look = idleWatch(() => state.batches, state.heap);
    for (let i = 0; i < 2; i += 1) look();
    expect(state.collections).toBe(0);
    for (let i = 0; i < 10; i += 1) look();
    expect(state.collections).toBe(1);
  });

  test("not while batches are decided", () => {
    const state = world(500 * MIB, 20 * MIB);
    const look = idleWatch(() => state.batches, state.heap);
    for (let i = 0; i < 20; i += 1) {
      if (i % 2 === 0) state.batches += 1;
      look();
    }
    expect(state.collections).toBe(0);
  });

  test("not where the heap is small, and not again and again where it is full of what lives", () => {
    const small = world(40 * MIB, 20 * MIB);
    const lookAtSmall = idleWatch(() => small.batches, small.heap);
    for (let i = 0; i < 10; i += 1) lookAtSmall();
    expect(small.collections).toBe(0);

    const full = world(400 * MIB, 380 * MIB);
    const lookAtFull = idleWatch(() => full.batches, full.heap);
    for (let burst = 0; burst < 5; burst += 1) {
      full.batches += 1;
      for (let i = 0; i < 10; i += 1) lookAtFull();
    }
    expect(full.collections).toBe(1);
  });
});
