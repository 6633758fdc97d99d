import { describe, expect, test } from "vitest";
import { Turns } from "./turns.ts";

/** What happens in one turn, in its order: the code of an attempt, and that it is told. */
async function orderOf(usesTicks: boolean): Promise<readonly string[]> {
  const order: string[] = [];
  const turns = new Turns(
    (callback) => process.nextTick(callback),
    (callback) => void setImmediate(callback),
  );
  const told = new Promise<void>((resolve) => {
    turns.mark({ usesTicks, drained: () => resolve(void order.push("told")) });
  });
  const tick = (name: string, then: () => void): void =>
    process.nextTick(() => void Promise.resolve().then(() => (order.push(name), then())));
  await Promise.resolve();
  order.push("microtask");
  tick("tick", () => tick("its tick", () => undefined));
  await told;
  await new Promise<void>((resolve) => void setImmediate(resolve));
  return order;
}

describe("an attempt is told that its code has run as far as it can", () => {
  test("after the microtasks (T1)", async () => {
    expect((await orderOf(false)).slice(0, 2)).toEqual(["microtask", "told"]);
  });

  test("after the ticks too, where its code uses them (T2)", async () => {
    expect(await orderOf(true)).toEqual(["microtask", "tick", "its tick", "told"]);
  });
});
