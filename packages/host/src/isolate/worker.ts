// The entry of a worker thread that holds isolates.

import { parentPort, workerData } from "node:worker_threads";
import { assert } from "@perdure/protocol";
import { collectGarbage } from "../idle-memory.ts";
import { loadEngine } from "./engine.ts";
import { IsolateThread } from "./isolate-thread.ts";
import type { FromThread, ThreadOptions, ToThread } from "./thread-messages.ts";

const TRIM_EVERY_MS = 5_000;

const port = parentPort;
assert(port !== null, "this file is the entry of a worker thread");
/** Said within one round of the event loop, in their order: a message of its own costs more than what is in most. */
let said: FromThread[] = [];
const say = (message: FromThread): void => {
  if (said.push(message) > 1) return;
  setImmediate(() => {
    port.postMessage(said);
    said = [];
  });
};
const thread = new IsolateThread(await loadEngine(), workerData as ThreadOptions, say);
port.on("message", (messages: readonly ToThread[]) => {
  for (const message of messages) thread.hear(message);
});

// What a burst has left is garbage that nothing collects once nothing runs: machines of a megabyte each, above all.
let [seen, collected] = [0, 0];
const trim = (): void => {
  thread.trim();
  const { turns } = thread;
  if (turns === seen && turns !== collected) {
    collectGarbage();
    collected = turns;
  }
  seen = turns;
};
setInterval(trim, TRIM_EVERY_MS).unref();
