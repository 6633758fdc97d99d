// The command line as a process: its streams, its signals, its exit code. What bin/perdure.mjs calls.

import { EXIT } from "./exit-codes.ts";
import type { Io, StopSignal } from "./io.ts";
import { main } from "./main.ts";

const SIGNALS: readonly StopSignal[] = ["SIGINT", "SIGTERM"];

/** Ctrl-C reaches the whole group, and npm and npx pass on what they got: that is one signal, not two. */
const SAME_SIGNAL_MS = 500;

export async function runProcess(): Promise<void> {
  // A reader that has seen enough (`perdure runs | head`) is no error.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") process.exit(EXIT.ok);
      throw error;
    });
  }
  process.exitCode = await main(process.argv.slice(2), processIo());
}

function processIo(): Io {
  const controller = new AbortController();
  const takers: ((signal: StopSignal) => void)[] = [];
  let last = Number.NEGATIVE_INFINITY;
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      const now = performance.now();
      if (now - last < SAME_SIGNAL_MS) return;
      last = now;
      const taker = takers.at(-1);
      if (taker !== undefined) taker(signal);
      else if (controller.signal.aborted) process.exit(EXIT.interrupted);
      else controller.abort();
    });
  }
  return {
    get stdin() {
      return process.stdin; // Opened only by commands that read it: an open one keeps the process.
    },
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    now: Date.now,
    interrupted: controller.signal,
    onStop: (listener) => {
      takers.push(listener);
      return () => {
        takers.splice(takers.indexOf(listener), 1);
      };
    },
  };
}
