// Sessions, as they are typed: `researcher/demo`. A session's name may have slashes, an agent's has none.

import { UsageError } from "./errors.ts";

export function parseSessionName(text: string): { readonly agent: string; readonly session: string | undefined } {
  const slash = text.indexOf("/");
  const agent = slash < 0 ? text : text.slice(0, slash);
  const session = slash < 0 ? undefined : text.slice(slash + 1);
  if (agent === "" || session === "")
    throw new UsageError(`"${text}" names no session`, "write agent/session; `perdure agents` lists them");
  return { agent, session };
}

/** Of those who act: asked of the environment where nothing is said. */
export function personName(as: string | undefined, env: Readonly<Record<string, string | undefined>>): string {
  return as ?? (env["USER"] || env["LOGNAME"] || "somebody");
}
