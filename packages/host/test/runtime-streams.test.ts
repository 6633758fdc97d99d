// Streams through a whole runtime: what steps write is seen while they run, and what a lost loop wrote is not missed.

import { createMemoryStorage, openMemoryStore, type Store, type StreamItem } from "@perdure/engine";
import type { StreamRef } from "@perdure/protocol";
import { createRegistry, object } from "@perdure/sdk";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Catalog } from "../src/catalog.ts";
import { createInProcessExecutor } from "../src/executors/in-process.ts";
import { Runtime } from "../src/runtime.ts";
import { openSqliteStore } from "../src/stores/sqlite/open.ts";

const EVENTS: StreamRef = { owner: { service: "writer", key: "k" }, name: "events" };

/** A gate that a step waits at, so that a test sees it in the middle. */
class Gate {
  tries = 0;
  readonly #opened = Promise.withResolvers<void>();
  open(): void {
    this.#opened.resolve();
  }
  get passed(): Promise<void> {
    return this.#opened.promise;
  }
}

function writer(gate: Gate) {
  return object("writer", {
    async write(ctx, words: readonly string[]) {
      ctx.stream("events").append("begin");
      const text = await ctx.step(
        "generate",
        async ({ stream }) => {
          gate.tries += 1;
          if (gate.tries === 1) for (const word of words) stream("events").write(word);
          await gate.passed;
          return words.join(" ");
        },
        { into: "events" },
      );
      return { text, events: await ctx.stream("events").read() };
    },
  });
}

async function started(store: Store, gate: Gate): Promise<Runtime> {
  const registry = createRegistry([writer(gate)]);
  const executor = createInProcessExecutor(registry, { log: () => undefined });
  const runtime = new Runtime({ store, executor, catalog: new Catalog(registry) });
  await runtime.start();
  return runtime;
}

/** Watches until so many items were seen. */
function watch(runtime: Runtime, from: number, count: number): Promise<readonly StreamItem[]> {
  return new Promise((resolve, reject) => {
    const seen: StreamItem[] = [];
    const watched = runtime.watchStream(
      EVENTS,
      from,
      (items) => {
        seen.push(...items);
        if (seen.length < count) return;
        watched.close();
        resolve(seen);
      },
      reject,
    );
  });
}

const write = { target: { service: "writer", handler: "write", key: "k" }, input: '["one","two"]' };
const texts = (items: readonly StreamItem[]): readonly unknown[] =>
  items.map(({ offset, payload, writer: by }) => [offset, payload, by]);

describe("a runtime", () => {
  test("shows what a step writes while it runs, and its result once, where the journal says", async () => {
    const directory = mkdtempSync(join(tmpdir(), "perdure-streams-"));
    try {
      const gate = new Gate();
      const runtime = await started(await openSqliteStore({ directory }), gate);
      const running = watch(runtime, 0, 3);
      const done = runtime.call(write);
      const live = [
        [0, '"begin"', null],
        [1, '"one"', "2.1"],
        [2, '"two"', "2.1"],
      ];
      expect(texts(await running)).toEqual(live);
      const last = watch(runtime, 2, 2);
      gate.open();
      const { result, run } = await done;
      expect(result).toEqual({
        kind: "value",
        value: '{"text":"one two","events":["begin","one","two","one two"]}',
      });
      expect(texts(await last)).toEqual([live[2], [3, '"one two"', null]]);
      const page = await runtime.readStream(EVENTS, 1, 2);
      expect([page.start, page.end, texts(page.items)]).toEqual([0, 4, live.slice(1)]);
      expect((await runtime.reader.journal(run, 0, 10)).map((entry) => ("kept" in entry ? entry.kept : null))).toEqual([
        null,
        { stream: "events", from: 3, count: 1, form: "item" },
        { stream: "events", from: 0, count: 4, form: "list" },
      ]);
      await runtime.close(1_000);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  test("misses nothing that a loop wrote of which it never heard", async () => {
    const storage = createMemoryStorage();
    let troubles = 0;
    storage.hooks.beforeCommit = ({ mutations }) => {
      const writes = mutations.some((mutation) => mutation.type === "appendStream" && mutation.writer !== null);
      if (!writes || troubles > 0) return "apply";
      troubles += 1;
      return "uncertain";
    };
    const gate = new Gate();
    const runtime = await started(openMemoryStore(storage), gate);
    const seen = watch(runtime, 0, 3);
    await runtime.submit(write);
    expect(texts(await seen).slice(1)).toEqual([
      [1, '"one"', "2.1"],
      [2, '"two"', "2.1"],
    ]);
    expect(troubles).toBe(1);
    gate.open();
    await runtime.close(1_000);
  });
});
