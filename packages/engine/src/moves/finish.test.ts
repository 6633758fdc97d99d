import { CANCEL_SIGNAL } from "@perdure/protocol";
import { expect, test } from "vitest";
import { environment, openWorld, value } from "../../test/harness.ts";

const service = { service: "service", handler: "work" };

test("E7: a child that the run also awaits by a second, idempotent call is no news before the cancel", async () => {
  const world = await openWorld();
  const parent = await world.submit(service);
  const shared = { type: "call", target: service, input: null, idempotencyKey: "shared" } as const;
  const { replies } = world.latest(parent);
  replies.command(1, shared);
  replies.command(2, { type: "call", target: service, input: null });
  replies.command(3, shared);
  await world.settle();
  const child = environment.idempotentId(service, "shared");
  const other = world.attempts.find(({ start }) => start.run !== parent && start.run !== child);
  await world.ask({ type: "cancel", run: parent });
  const before = world.latest(parent).notified.length;
  world.latest(child).replies.end(value("1"));
  await world.settle();
  expect(world.latest(parent).notified).toHaveLength(before);
  other?.replies.end(value("2"));
  await world.settle();
  const told = world.latest(parent).notified.slice(before);
  expect(told[0]).toMatchObject({ kind: "signal", signal: CANCEL_SIGNAL });
  expect(told.slice(1).map((entry) => entry.kind === "completion" && entry.id)).toEqual([3, 1, 2]);
});
