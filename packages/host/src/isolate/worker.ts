// The entry of a worker thread that holds isolates.

import { parentPort, workerData } from "node:worker_threads";
import { assert } from "@perdure/protocol";
import { loadEngine } from "./engine.ts";
import { IsolateThread } from "./isolate-thread.ts";
import type { ThreadOptions, ToThread } from "./thread-messages.ts";

const port = parentPort;
assert(port !== null, "this file is the entry of a worker thread");
const thread = new IsolateThread(await loadEngine(), workerData as ThreadOptions, (message) =>
  port.postMessage(message),
);
port.on("message", (message: ToThread) => thread.hear(message));
