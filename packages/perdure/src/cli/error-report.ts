// How an error is shown: what happened, where, what to do, and the page with more.

import { explain, InterruptedError, type Explained } from "./errors.ts";
import type { ExitCode } from "./exit-codes.ts";
import type { Io } from "./io.ts";
import { paintFor, type Paint } from "./style.ts";
import { printable } from "./text.ts";

/** Metadata that has its own place. */
const SHOWN_APART: ReadonlySet<string> = new Set(["do", "excerpt", "where"]);

function errorPage(code: string): string {
  return `docs/errors/${code}.md`;
}

/** Prints the error to standard error and gives the exit code. */
export function reportError(error: unknown, io: Io, json: boolean): ExitCode {
  const explained = explain(error);
  if (json) io.stderr.write(`${JSON.stringify({ error: errorDocument(explained) })}\n`);
  else if (!(error instanceof InterruptedError)) io.stderr.write(errorText(explained, paintFor(io.stderr, io.env)));
  return explained.exit;
}

export function errorDocument(explained: Explained): Readonly<Record<string, unknown>> {
  const { message, code, status, metadata, advice, exit } = explained;
  return {
    message,
    ...(code === undefined ? {} : { code, page: errorPage(code) }),
    ...(status === undefined ? {} : { status }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    ...(advice === undefined ? {} : { do: advice }),
    exit,
  };
}

export function errorText(explained: Explained, paint: Paint): string {
  const { message, code, metadata, advice, stack } = explained;
  const [first = "", ...more] = message.split("\n");
  const lines = [`${paint(["bold", "red"], "perdure:")} ${code === undefined ? "" : `${code} `}${printable(first)}`];
  for (const line of more) lines.push(`  ${printable(line)}`);
  for (const line of metadata["excerpt"]?.split("\n") ?? []) lines.push(`    ${paint("dim", printable(line))}`);
  for (const [name, value] of Object.entries(metadata))
    if (!SHOWN_APART.has(name) && !message.includes(value)) lines.push(`  ${name}: ${printable(value)}`);
  if (stack !== undefined)
    lines.push(
      ...stack
        .split("\n")
        .slice(1, 8)
        .map((line) => paint("dim", line)),
    );
  if (advice !== undefined) lines.push(`  ${paint("bold", "what to do:")} ${advice}`);
  if (stack !== undefined) lines.push("  This is an error in Perdure itself: please report it with the lines above.");
  if (code !== undefined) lines.push(`  ${paint("dim", `more: ${errorPage(code)}`)}`);
  return `${lines.join("\n")}\n`;
}
