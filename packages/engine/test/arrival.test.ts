// Arrivals: the run that has a key's turn is told what queues behind it, where its handler listens; the queued runs get
// their turns all the same.

import { ARRIVAL_SIGNAL, QUEUE_LISTED_MAX, type Entry, type QueueListing } from "@perdure/protocol";
import { describe, expect, test } from "vitest";
import { openWorld, value } from "./harness.ts";

const listening = (key: string) => ({ service: "object", handler: "listen", key });
const deaf = (key: string) => ({ service: "object", handler: "work", key });

function arrivals(entries: readonly Entry[]): unknown[] {
  return entries.flatMap((entry) =>
    entry.kind === "signal" && entry.signal === ARRIVAL_SIGNAL && entry.payload.kind === "value"
      ? [JSON.parse(String(entry.payload.value))]
      : [],
  );
}

describe("arrivals", () => {
  test("a live holder is told of each run that queues behind it, in order", async () => {
    const world = await openWorld();
    const holder = await world.submit(listening("k"));
    const second = await world.submit(listening("k"));
    const third = await world.submit(listening("k"));
    await world.settle();
    expect(arrivals(world.latest(holder).notified)).toMatchObject([{ run: second }, { run: third }]);
    expect(world.of(second)).toHaveLength(0); // E3
  });

  test("a suspended holder that waits for arrivals wakes", async () => {
    const world = await openWorld();
    const holder = await world.submit(listening("k"));
    world.latest(holder).replies.suspend([{ kind: "signal", signal: ARRIVAL_SIGNAL }], 0);
    await world.settle();
    const second = await world.submit(listening("k"));
    await world.settle();
    expect(world.of(holder)).toHaveLength(2);
    expect(arrivals(world.latest(holder).start.entries)).toMatchObject([{ run: second }]);
  });

  test("a run that waits for its start time arrives when that has come", async () => {
    const world = await openWorld();
    const holder = await world.submit(listening("k"));
    const later = await world.submit(listening("k"), { startAt: world.now + 1_000 });
    await world.settle();
    expect(arrivals(world.latest(holder).notified)).toEqual([]);
    await world.advance(1_000);
    expect(arrivals(world.latest(holder).notified)).toMatchObject([{ run: later }]);
  });

  test("handlers that do not listen, and other handlers of the key, are told nothing", async () => {
    const world = await openWorld();
    const plain = await world.submit(deaf("k"));
    await world.submit(listening("k"));
    const holder = await world.submit(listening("m"));
    await world.submit(deaf("m"));
    await world.settle();
    expect(arrivals(world.latest(plain).notified)).toEqual([]);
    expect(arrivals(world.latest(holder).notified)).toEqual([]);
  });

  test("getQueue names what queues for the same handler; whoever has no turn sees nothing", async () => {
    const world = await openWorld();
    const holder = await world.submit(listening("k"));
    const second = await world.submit(listening("k"));
    await world.submit(deaf("k"));
    const fourth = await world.submit(listening("k"));
    world.latest(holder).replies.command(1, { type: "getQueue" });
    await world.settle();
    const entry = world.latest(holder).notified.find((one) => one.kind === "command");
    expect(
      entry?.kind === "command" && entry.result?.kind === "value" && JSON.parse(String(entry.result.value)),
    ).toEqual({
      messages: [
        { run: second, input: null, headers: {} },
        { run: fourth, input: null, headers: {} },
      ],
      more: false,
    });
    const single = await world.submit({ service: "service", handler: "work" });
    world.latest(single).replies.command(1, { type: "getQueue" });
    await world.settle();
    expect(world.latest(single).notified).toMatchObject([{ result: value('{"messages":[],"more":false}') }]);
  });

  test("a queue that is longer than a listing says so", async () => {
    const world = await openWorld();
    const holder = await world.submit(listening("k"));
    for (let i = 0; i <= QUEUE_LISTED_MAX; i += 1) await world.submit(listening("k"));
    world.latest(holder).replies.command(1, { type: "getQueue" });
    await world.settle();
    const entry = world.latest(holder).notified.find((one) => one.kind === "command");
    const text = entry?.kind === "command" && entry.result?.kind === "value" ? String(entry.result.value) : "";
    const { messages, more } = JSON.parse(text) as QueueListing;
    expect([messages.length, more]).toEqual([QUEUE_LISTED_MAX, true]);
  });

  test("an arrival that its holder ends without having seen gets its own turn", async () => {
    const world = await openWorld();
    const holder = await world.submit(listening("k"));
    const second = await world.submit(listening("k"));
    world.latest(holder).replies.end(value("1"));
    await world.settle();
    expect(world.of(second)).toHaveLength(1);
  });

  test("the queue is known after a crash, when it has to be loaded", async () => {
    const world = await openWorld();
    const holder = await world.submit(listening("k"));
    const second = await world.submit(listening("k"));
    world.loop.stop();
    const next = await openWorld({ storage: world.storage });
    const commands = next.latest(holder).start.entries.filter((entry) => entry.kind === "command").length;
    next.latest(holder).replies.command(commands + 1, { type: "getQueue" });
    const third = await next.submit(listening("k"));
    await next.settle();
    const entry = next.latest(holder).notified.find((one) => one.kind === "command");
    expect(entry).toMatchObject({ result: { kind: "value" } });
    expect(JSON.stringify(entry)).toContain(second);
    expect(arrivals(next.latest(holder).notified)).toMatchObject([{ run: third }]);
  });
});
