// The process that serves, under `dev`: does what its supervisor says.

import { isPerdureError } from "@perdure/protocol";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { loadDefinitions } from "../load-definitions.ts";
import { trackModules } from "../module-tracker.ts";
import { startServer, type Server, type ServeOptions } from "../serve.ts";
import type { FromChild, ShownError, ToChild } from "./messages.ts";

type Definitions = Awaited<ReturnType<typeof loadDefinitions>>;

export async function serveAsChild(io: Io): Promise<ExitCode> {
  if (process.send === undefined) return EXIT.usage; // Not started by `dev`.
  io.onStop(() => undefined); // Ctrl-C reaches the whole group; the supervisor decides.
  const tracker = trackModules();
  tracker.onFile((file) => tell({ type: "file", file }));
  let options: ServeOptions | undefined;
  let definitions: Definitions = [];
  let server: Server | undefined;
  for await (const message of messages()) {
    try {
      if (message.type === "load") {
        options = message.options;
        definitions = await loadDefinitions(options.files, { cwd: options.cwd, tracker });
        tell({ type: "loaded" });
      } else if (message.type === "serve" && options !== undefined) {
        server = await startServer({ ...options, port: message.port, adminPort: message.adminPort }, definitions);
        tell({ type: "listening", served: server.served });
      } else if (message.type === "stop") {
        await server?.close(message.graceMs);
        break;
      }
    } catch (error) {
      tell({ type: "failed", error: shown(error) });
    }
  }
  // Whatever the served modules left open (timers, connections) does not keep an old version alive.
  return process.exit(EXIT.ok);
}

function tell(message: FromChild): void {
  if (process.connected) process.send?.(message);
}

/** One after the other; the end of the connection reads as `stop`. */
async function* messages(): AsyncGenerator<ToChild> {
  const queue: ToChild[] = [];
  let wake = (): void => undefined;
  const push = (message: ToChild): void => {
    queue.push(message);
    wake();
  };
  process.on("message", (message) => push(message as ToChild));
  process.on("disconnect", () => push({ type: "stop", graceMs: 5_000 }));
  for (;;) {
    const next = queue.shift();
    if (next !== undefined) yield next;
    else {
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      await promise;
    }
  }
}

function shown(error: unknown): ShownError {
  if (isPerdureError(error))
    return { message: error.message, code: error.code, metadata: error.metadata, stack: undefined };
  const failure = error instanceof Error ? error : new Error(String(error));
  return { message: failure.message, code: undefined, metadata: undefined, stack: failure.stack };
}
