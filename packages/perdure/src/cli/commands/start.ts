// perdure start: serves files until it is told to stop.

import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { EXIT } from "../exit-codes.ts";
import { loadDefinitions } from "../load-definitions.ts";
import { startServer, type Server } from "../serve.ts";
import { checkAddress, printServed, serveCommand, serveOptions, type ServeFlags } from "./serve-options.ts";

/** A signal to the whole process group may reach us twice: from the sender and from the one who started us. */
const SAME_SIGNAL_MS = 1_000;

export const startCommand = (cli: Cli): Command =>
  serveCommand("start", "serve files, for good").action(async (files: string[], flags: ServeFlags) => {
    const output = cli.output(flags);
    const options = serveOptions(cli, "start", files, flags);
    checkAddress(options);
    const stopped = stopSignal(cli);
    const server = await startServer(options, await loadDefinitions(files, { cwd: cli.io.cwd }));
    printServed(cli, output, server.served, flags);
    await stopped.first;
    output.note(`stopping: running steps have ${Math.round(options.graceMs / 1_000)} s to finish; once more to stop at once`);
    await closeOrForce(server, options.graceMs, stopped.second, cli);
  });

function stopSignal(cli: Cli): { readonly first: Promise<void>; readonly second: Promise<void> } {
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  let at: number | undefined;
  cli.io.onStop(() => {
    if (at === undefined) {
      at = cli.io.now();
      first.resolve();
    } else if (cli.io.now() - at > SAME_SIGNAL_MS) second.resolve();
  });
  return { first: first.promise, second: second.promise };
}

async function closeOrForce(server: Server, graceMs: number, forced: Promise<void>, cli: Cli): Promise<void> {
  const closing = server.close(graceMs).then(() => EXIT.ok);
  cli.exitCode = await Promise.race([closing, forced.then(() => EXIT.interrupted)]);
  // Whatever the served files left open (timers, connections) does not keep the process.
  setTimeout(() => process.exit(cli.exitCode), 100).unref();
}
