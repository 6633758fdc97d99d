// perdure start: serves files until it is told to stop.

import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { EXIT } from "../exit-codes.ts";
import type { Server } from "../serve.ts";
import { checkAddress, printServed, serveCommand, serveOptions, type ServeFlags } from "./serve-options.ts";

export const startCommand = (cli: Cli): Command =>
  serveCommand("start", "serve files, for good").action(async (files: string[], flags: ServeFlags) => {
    const output = cli.output(flags);
    const options = serveOptions(cli, "start", files, flags);
    checkAddress(options);
    const stopped = stopSignal(cli);
    // Loaded only here: commands that talk to a runtime do not need one of their own.
    const [{ loadDefinitions }, { startServer }] = await Promise.all([
      import("../load-definitions.ts"),
      import("../serve.ts"),
    ]);
    const server = await startServer(options, await loadDefinitions(files, { cwd: cli.io.cwd }));
    printServed(cli, output, server.served, flags);
    await stopped.first;
    output.note(
      `stopping: running steps have ${Math.round(options.graceMs / 1_000)} s to finish; once more to stop at once`,
    );
    await closeOrForce(server, options.graceMs, stopped.second, cli);
  });

function stopSignal(cli: Cli): { readonly first: Promise<void>; readonly second: Promise<void> } {
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  let count = 0;
  cli.io.onStop(() => {
    count += 1;
    (count === 1 ? first : second).resolve();
  });
  return { first: first.promise, second: second.promise };
}

async function closeOrForce(server: Server, graceMs: number, forced: Promise<void>, cli: Cli): Promise<void> {
  const closing = server.close(graceMs).then(() => EXIT.ok);
  cli.exitCode = await Promise.race([closing, forced.then(() => EXIT.interrupted)]);
  // Whatever the served files left open (timers, connections) does not keep the process.
  setTimeout(() => process.exit(cli.exitCode), 100).unref();
}
