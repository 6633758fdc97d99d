// perdure export: writes all that a data directory holds as JSON lines, also of a damaged one.

import { createWriteStream, existsSync } from "node:fs";
import { resolve } from "node:path";
import { finished } from "node:stream/promises";
import type { Command } from "commander";
import { jsonCommand, type Cli, type CommonOptions } from "../cli.ts";
import { InterruptedError, RefusedError, UsageError } from "../errors.ts";
import { EXIT } from "../exit-codes.ts";
import { plural } from "../text.ts";

interface Options extends CommonOptions {
  readonly data: string;
  readonly out?: string;
}

export function exportCommand(cli: Cli): Command {
  return jsonCommand("export", "write out a data directory as JSON lines, read-only, also a damaged one")
    .option("--data <dir>", "the data directory", ".perdure")
    .option("-o, --out <file>", "write to this new file; standard output where absent")
    .action((options: Options) => exportAll(cli, options));
}

async function exportAll(cli: Cli, options: Options): Promise<void> {
  const directory = resolve(cli.io.cwd, options.data);
  if (!existsSync(directory))
    throw new RefusedError(404, `${directory} does not exist`, undefined, {
      do: "name the data directory with --data",
    });
  const { write, close } = openOutput(cli, options);
  const { exportData } = await import("../export-data.ts");
  const summary = await exportData(directory, async (line) => {
    if (cli.io.interrupted.aborted) throw new InterruptedError();
    await write(`${JSON.stringify(line)}\n`);
  });
  await close();
  const { runs, entries, keys, unreadable } = summary;
  const text = `exported ${plural(runs, "run")}, ${plural(entries, "entry", "entries")}, state of ${plural(keys, "key")}`;
  const out = cli.output(options);
  if (options.out !== undefined && out.json) out.document(summary);
  else if (options.out !== undefined) out.text(text);
  else out.note(text);
  if (unreadable.length === 0) return;
  cli.exitCode = EXIT.failed;
  cli.hint(
    options,
    `${plural(unreadable.length, "part")} could not be read:\n${unreadable
      .slice(0, 20)
      .map((line) => `  ${line}`)
      .join("\n")}`,
  );
}

interface Sink {
  write(text: string): Promise<void>;
  close(): Promise<void>;
}

function openOutput(cli: Cli, options: Options): Sink {
  if (options.out === undefined)
    return { write: (text) => writeAll(cli.io.stdout, text), close: async () => undefined };
  const path = resolve(cli.io.cwd, options.out);
  if (existsSync(path)) throw new UsageError(`${options.out} exists already`, "name a new file with --out");
  const file = createWriteStream(path, { flags: "wx" });
  return {
    write: (text) => writeAll(file, text),
    close: async () => {
      file.end();
      await finished(file);
    },
  };
}

/** Waits for a slow reader: an export may be larger than memory. */
function writeAll(stream: Cli["io"]["stdout"] | NodeJS.WritableStream, text: string): Promise<void> {
  if (stream.write(text) !== false || !("once" in stream)) return Promise.resolve();
  return new Promise((done) => stream.once("drain", done));
}
