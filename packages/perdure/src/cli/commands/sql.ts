// perdure sql: one reading statement over the store's tables.

import type { Command } from "commander";
import type { JsonValue, SqlAnswer } from "@perdure/protocol";
import { adminCommand, type Cli, type CommonOptions } from "../cli.ts";
import { UsageError } from "../errors.ts";
import { readAll } from "../io.ts";
import { parseCount } from "../run-filter.ts";

interface Options extends CommonOptions {
  readonly csv?: boolean;
  readonly limit: number;
}

export function sqlCommand(cli: Cli): Command {
  return adminCommand("sql", "ask the store: one reading SQL statement")
    .argument("<query>", "the statement; - reads it from standard input")
    .option("--csv", "print CSV (RFC 4180)")
    .option("-n, --limit <rows>", "how many rows at most (up to 10000)", parseCount, 1_000)
    .action(async (query: string, options: Options) => {
      if (options.csv === true && options.json === true) throw new UsageError("--csv or --json: not both");
      const text = query === "-" ? await readAll(cli.io.stdin) : query;
      const answer = await cli.admin(options).sql(text, Math.min(options.limit, 10_000));
      const out = cli.output(options);
      if (out.json) out.document(answer);
      else if (options.csv === true) out.raw(csv(answer));
      else {
        const columns = answer.columns.map((title) => ({ title, shrinksTo: 8 }));
        out.raw(
          out.table(
            columns,
            answer.rows.map((row) => row.map(cellText)),
          ),
        );
      }
      if (answer.truncated)
        cli.hint(options, `only the first ${answer.rows.length} rows: add a LIMIT, or raise --limit`);
    });
}

function cellText(cell: JsonValue): string {
  if (cell === null) return "";
  return typeof cell === "object" ? JSON.stringify(cell) : String(cell);
}

function csv({ columns, rows }: SqlAnswer): string {
  const field = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return [columns, ...rows.map((row) => row.map(cellText))].map((row) => `${row.map(field).join(",")}\r\n`).join("");
}
