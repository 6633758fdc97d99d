// perdure dev: serves files, takes a changed file into account at once, and reports effects outside of steps.

import { relative } from "node:path";
import { Option, type Command } from "commander";
import type { Cli } from "../cli.ts";
import type { ShownError } from "../dev/messages.ts";
import { Supervisor, type DevReporter } from "../dev/supervisor.ts";
import { errorDocument, errorText } from "../error-report.ts";
import { explain, RefusedError } from "../errors.ts";
import { paintFor } from "../style.ts";
import { plural } from "../text.ts";
import { roundDuration } from "../time-text.ts";
import { checkAddress, printServed, serveCommand, serveOptions, type ServeFlags } from "./serve-options.ts";

export const devCommand = (cli: Cli): Command =>
  serveCommand("dev", "serve files while you work on them: reloads, and reports effects outside of steps")
    .addOption(
      new Option("--guard <mode>", "what happens at an effect outside of a step")
        .choices(["warn", "throw"])
        .default("warn"),
    )
    .action(async (files: string[], flags: ServeFlags) => {
      const options = serveOptions(cli, "dev", files, flags);
      checkAddress(options);
      const supervisor = new Supervisor(options, reporter(cli, flags));
      cli.io.onStop(() => supervisor.stop());
      cli.exitCode = await supervisor.run();
    });

function reporter(cli: Cli, flags: ServeFlags): DevReporter {
  const output = cli.output(flags);
  const { io } = cli;
  const say = (text: string): void => {
    if (flags.quiet !== true && !output.json) output.text(text);
  };
  return {
    listening(served, watched, tookMs, first) {
      if (!first) {
        if (output.json) output.line({ type: "reloaded", tookMs, services: served.services });
        else say(`reloaded in ${roundDuration(tookMs)}`);
        return;
      }
      printServed(cli, output, served, flags);
      for (const [name, asked, url] of [
        ["ingress", flags.port, served.ingressUrl],
        ["admin", flags.adminPort, served.adminUrl],
      ] as const) {
        if (asked !== 0 && !url.endsWith(`:${asked}`))
          say(`Port ${asked} is taken: ${name} listens at ${url} instead.`);
      }
      say(`Watching ${plural(watched, "file")}; runs survive every reload.`);
    },
    changed(files) {
      if (output.json) output.line({ type: "changed", files });
      else say(`changed: ${files.map((file) => relative(io.cwd, file)).join(", ")}`);
    },
    failed(error, next) {
      const explained = explain(revived(error));
      if (output.json) output.line({ type: "failed", error: errorDocument(explained), next });
      else io.stderr.write(errorText(explained, paintFor(io.stderr, io.env)));
      if (next === "serve on") say("The version before goes on serving; save again when it is mended.");
      else if (next === "wait") say("Save again when it is mended.");
    },
    died(how, againInMs) {
      if (output.json) output.line({ type: "died", how, againInMs });
      else say(`The serving process ended (${how}); a new one starts in ${roundDuration(againInMs)}.`);
    },
    stopping() {
      output.note("stopping");
    },
  };
}

/** An error of the child process, as one that is explained like our own. */
function revived({ message, code, metadata, stack }: ShownError): Error {
  if (code !== undefined) return new RefusedError(500, message, code, metadata);
  const error = new Error(message);
  if (stack !== undefined) error.stack = stack;
  return error;
}
