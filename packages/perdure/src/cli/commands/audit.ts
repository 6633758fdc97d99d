// perdure audit: the log of who did what. It proves itself: `verify` finds what was changed, taken out or cut off.

import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { finished } from "node:stream/promises";
import { Command } from "commander";
import type { AuditCheckAnswer } from "@perdure/protocol";
import { adminCommand, type Cli, type CommonOptions } from "../cli.ts";
import { RefusedError, UsageError } from "../errors.ts";
import { EXIT } from "../exit-codes.ts";
import { parseCount } from "../run-filter.ts";
import { plural } from "../text.ts";

interface ChainOptions extends CommonOptions {
  readonly chain: string;
}

interface ExportOptions extends ChainOptions {
  readonly from: number;
  readonly out?: string;
}

interface VerifyOptions extends ChainOptions {
  readonly head?: string;
}

export function auditCommand(cli: Cli): Command {
  return new Command("audit")
    .description("export the audit log, and verify that it is what was recorded")
    .addCommand(exportCommand(cli))
    .addCommand(verifyCommand(cli));
}

function chainCommand(name: string, description: string): Command {
  return adminCommand(name, description).option("--chain <name>", "which log", "main");
}

function exportCommand(cli: Cli): Command {
  return chainCommand("export", "write it out as JSON lines, oldest first")
    .option("--from <entry>", "begin with this entry", parseCount, 0)
    .option("-o, --out <file>", "write to this new file; standard output where absent")
    .action(async (options: ExportOptions) => {
      const out = cli.output(options);
      const lines = cli.admin(options).auditLines(options.chain, options.from);
      let count = 0;
      if (options.out === undefined) {
        for await (const line of lines) out.raw(`${line}\n`);
        return;
      }
      const path = resolve(cli.io.cwd, options.out);
      if (existsSync(path)) throw new UsageError(`${options.out} exists already`, "name a new file with --out");
      const file = createWriteStream(path, { flags: "wx" });
      for await (const line of lines) {
        count += 1;
        if (!file.write(`${line}\n`)) await new Promise<void>((done) => file.once("drain", () => done()));
      }
      file.end();
      await finished(file);
      if (out.json) out.document({ file: path, entries: count });
      else out.text(`exported ${plural(count, "entry", "entries")}`);
    });
}

function verifyCommand(cli: Cli): Command {
  return chainCommand("verify", "check that nothing in it was changed: in the runtime, or in an export")
    .argument("[file]", "an export; absent: what the runtime has")
    .option("--head <hash>", "the last entry's hash, as it was noted: finds what was cut off at the end")
    .action(async (file: string | undefined, options: VerifyOptions) => {
      const checked =
        file === undefined ? await cli.admin(options).verifyAudit(options.chain) : await verifyFile(cli, file);
      const answer = withHead(checked, options.head);
      const out = cli.output(options);
      if (!answer.ok) cli.exitCode = EXIT.failed;
      if (out.json) return out.document(answer);
      if (answer.ok)
        out.text(`${out.paint("green", "ok")}  ${plural(answer.count, "entry", "entries")}, head ${answer.head}`);
      else out.text(`${out.paint("red", "not what was recorded")}  from entry ${answer.at} on: ${answer.why}`);
    });
}

function withHead(answer: AuditCheckAnswer, head: string | undefined): AuditCheckAnswer {
  if (head === undefined || !answer.ok || answer.head === head) return answer;
  const why = `it ends with the hash ${answer.head}, and not with ${head}: entries were cut off, or added since`;
  return { chain: answer.chain, ok: false, at: answer.count, why };
}

const ENTRIES_AT_ONCE = 1_000;

/** A part at a time: a long log is not held in memory. */
async function verifyFile(cli: Cli, name: string): Promise<AuditCheckAnswer> {
  const path = resolve(cli.io.cwd, name);
  if (!existsSync(path)) throw new RefusedError(404, `${path} does not exist`, undefined);
  const { parseAudit, verifyChain } = await import("@perdure/agents");
  let after = { count: 0, hash: "0".repeat(64) };
  let lines: string[] = [];
  const check = (): AuditCheckAnswer | undefined => {
    const checked = verifyChain(parseAudit(lines.join("\n")), { after });
    if (!checked.ok) return { chain: name, ...checked };
    after = { count: checked.count, hash: checked.head };
    lines = [];
    return undefined;
  };
  for await (const line of createInterface({ input: createReadStream(path) })) {
    lines.push(line);
    const wrong = lines.length < ENTRIES_AT_ONCE ? undefined : check();
    if (wrong !== undefined) return wrong;
  }
  const wrong = lines.length === 0 ? undefined : check();
  return wrong ?? { chain: name, ok: true, count: after.count, head: after.hash };
}
