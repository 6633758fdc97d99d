// Inputs that stand on the command line, or on standard input.

import { readAll, type Io } from "../io.ts";
import { UsageError } from "../errors.ts";

/** JSON text; `-` reads it from standard input. @throws UsageError where it is not JSON. */
export async function readInput(io: Io, text: string | undefined): Promise<string | undefined> {
  if (text === undefined) return undefined;
  const json = text === "-" ? await readAll(io.stdin) : text;
  checkJson(json);
  return json;
}

export function checkJson(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch (error) {
    const hint = /^[\w .!?,-]+$/.test(json) ? `a text needs quotes of its own: '${JSON.stringify(json)}'` : "put it into single quotes, so that the shell leaves it alone: '{\"name\":\"value\"}'";
    throw new UsageError(`${shorten(json)} is not JSON: ${(error as Error).message}`, hint);
  }
}

export function checkTarget(target: string): void {
  const parts = target.replace(/^\//, "").split("/");
  if (parts.length >= 2 && parts.every((part) => part !== "")) return;
  throw new UsageError(`"${target}" names no handler`, "write service/handler, or object/key/handler; `perdure services` lists them");
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
