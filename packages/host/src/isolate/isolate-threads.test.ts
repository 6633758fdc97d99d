// Real threads: code runs in them, and one that dies takes its attempts with it and nothing else.

import { createMemoryStorage, openMemoryStore } from "@perdure/engine";
import type { AttemptFailure, AttemptReplies, AttemptStart, Result } from "@perdure/protocol";
import { valueResult } from "@perdure/protocol";
import { afterEach, describe, expect, test, vi } from "vitest";
import { baseOf, RUN_ID, START_TIME } from "../../test/isolate/heap-run.ts";
import { bundleModule } from "./bundle/bundle-module.ts";
import { createIsolateExecutor, type IsolateExecutor } from "./executor.ts";
import { IsolateThreads } from "./isolate-threads.ts";
import type { FromThread } from "./thread-messages.ts";

vi.setConfig({ testTimeout: 60_000 });

const closing: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((one) => one.close()));
});

interface Run {
  readonly ended: Promise<Result | AttemptFailure>;
  readonly attempt: ReturnType<IsolateExecutor["start"]>;
}

function start(executor: IsolateExecutor, deployment: string, handler: string): Run {
  const { promise: ended, resolve } = Promise.withResolvers<Result | AttemptFailure>();
  const nothing = (): void => undefined;
  const replies: AttemptReplies = {
    command: nothing,
    propose: nothing,
    append: nothing,
    retrying: nothing,
    suspend: nothing,
    image: nothing,
    imageUnusable: nothing,
    end: resolve,
    error: resolve,
  };
  const begin: AttemptStart = {
    run: RUN_ID,
    service: "traps",
    handler,
    key: null,
    mode: "service",
    input: null,
    headers: {},
    idempotencyKey: null,
    generation: 0,
    createdAt: START_TIME,
    deployment,
    image: null,
    origin: null,
    migrated: null,
    entries: [],
    state: null,
    tries: 0,
  };
  return { ended, attempt: executor.start(begin, replies) };
}

async function openExecutor(): Promise<{ readonly executor: IsolateExecutor; readonly bundle: string }> {
  const { artifacts } = openMemoryStore(createMemoryStorage());
  const entry = new URL("../../test/isolate/traps.ts", import.meta.url).pathname;
  const { code } = await bundleModule({ entry });
  const bundle = await artifacts.put("bundle", Buffer.from(code), { entry: "traps.ts" });
  const executor = createIsolateExecutor({ artifacts, hostFunctions: new Map(), log: () => undefined, threads: 1 });
  closing.push(executor);
  return { executor, bundle };
}

describe("an executor with a thread", () => {
  test("runs code in it, to its end", async () => {
    const { executor, bundle } = await openExecutor();
    expect(executor.busy).toBe(false);
    const { ended, attempt } = start(executor, bundle, "patient");
    expect(executor.busy).toBe(true);
    for (const [at, signal] of ["go", "again"].entries()) {
      const payload = valueResult(JSON.stringify(signal));
      attempt.notify([{ kind: "signal", index: at + 1, at: START_TIME, signal, payload }]);
    }
    expect(await ended).toEqual(valueResult('"go again"'));
    expect(executor.busy).toBe(false);
  });

  test("pauses a run whose bundle is not there", async () => {
    const { executor } = await openExecutor();
    expect(await start(executor, "ab".repeat(32), "patient").ended).toMatchObject({
      behavior: "pause",
      failure: { errorCode: "P0101" },
    });
  });
});

test("a thread that dies is said with its attempts, and the next one is another", async () => {
  const { base } = await baseOf("./traps.ts");
  const died = Promise.withResolvers<readonly number[]>();
  const heard: FromThread[] = [];
  const threads = new IsolateThreads(
    { threads: 1 },
    { heard: (message) => void heard.push(message), died: (attempts) => died.resolve(attempts) },
  );
  closing.push(threads);
  threads.assign(
    7,
    base,
    () => false,
    () => undefined,
  );
  expect(threads.figures.live).toBe(1);
  threads.tell(7, { type: "base", base: null as never }); // Nothing that it can bear.
  expect(await died.promise).toEqual([7]);
  expect(threads.figures.live).toBe(0);
  // There is somebody again who says that this is no bundle.
  await expect(threads.makeBase({ code: "globalThis.__perdure_guest = {};", hash: "00".repeat(32) })).rejects.toThrow();
});
