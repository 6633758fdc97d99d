// Targets and inputs, as they are typed: `mailer/send`, `inbox/ada/add`, JSON or `-`.

import { UsageError } from "./errors.ts";
import { readAll, type Io } from "./io.ts";

export interface Target {
  readonly service: string;
  readonly key: string | undefined;
  readonly handler: string;
}

/** The key may contain slashes: it is what stands between the first and the last one. */
export function parseTarget(text: string): Target {
  const parts = text.split("/");
  const service = parts[0] ?? "";
  const handler = parts.at(-1) ?? "";
  if (parts.length < 2 || service === "" || handler === "") {
    throw new UsageError(
      `"${text}" is not a target`,
      "write service/handler, or object/key/handler; `perdure services` lists them",
    );
  }
  return { service, handler, key: parts.length === 2 ? undefined : parts.slice(1, -1).join("/") };
}

export function targetText(target: {
  readonly service: string;
  readonly key?: string | null | undefined;
  readonly handler: string;
}): string {
  return [target.service, ...(target.key == null ? [] : [target.key]), target.handler].join("/");
}

/** JSON text as it was typed, or what stands on standard input for `-`. Undefined: there is none. */
export async function readInput(text: string | undefined, io: Io): Promise<string | undefined> {
  if (text === undefined) return undefined;
  const json = text === "-" ? (await readAll(io.stdin)).trim() : text;
  if (json === "" && text === "-") return undefined;
  checkJson(json);
  return json;
}

export function checkJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const isWord = /^[^"{[]/.test(text);
    throw new UsageError(
      `the input is not JSON: ${reason}`,
      isWord ? `a text needs its quotes: '${JSON.stringify(text)}'` : "check the quotes, for the shell and for JSON",
    );
  }
}
