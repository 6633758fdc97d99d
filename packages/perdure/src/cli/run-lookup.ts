// Run ids as they are typed: whole, or the beginning or end of one, as long as it is the only such run.

import { parseRunId, type RunId } from "@perdure/protocol";
import type { AdminClient } from "./api/admin-client.ts";
import { RefusedError, UsageError } from "./errors.ts";

/** How many characters lists show of an id on a terminal. */
const SHORT_ID_LENGTH = 10;
const CANDIDATES = 100;
const SHOWN = 5;

export function shortId(id: string): string {
  return id.slice(-SHORT_ID_LENGTH);
}

/** @throws UsageError where it names none or several; RefusedError (P0031) where there is no such run. */
export async function findRun(admin: AdminClient, text: string): Promise<RunId> {
  const whole = parseRunId(text);
  if (whole !== undefined) return whole;
  const part = text.replace(/^(?:run|inv)_1?/, "");
  if (!/^[0-9A-Za-z]{4,33}$/.test(part)) {
    throw new UsageError(
      `"${text}" is not a run id`,
      "those look like run_1 and 33 letters and digits; the first or last ones (at least 4) are enough",
    );
  }
  // LIKE does not tell cases apart: what it finds is looked at again.
  const { rows } = await admin.sql(
    `SELECT id FROM runs WHERE id LIKE '%${part}' OR id LIKE 'run_1${part}%' ORDER BY seq DESC LIMIT ${CANDIDATES}`,
    CANDIDATES,
  );
  const found = rows
    .flatMap(([id]) => (typeof id === "string" ? [id] : []))
    .filter((id) => id.endsWith(part) || id.startsWith(`run_1${part}`));
  const [only] = found;
  if (only === undefined)
    throw new RefusedError(404, `there is no run whose id begins or ends with "${part}"`, "P0031");
  if (found.length > 1) {
    const more = found.length > SHOWN ? `\nand ${found.length - SHOWN} more` : "";
    throw new UsageError(
      `"${text}" is the beginning or end of ${found.length} run ids:\n${found.slice(0, SHOWN).join("\n")}${more}`,
      "write more of it",
    );
  }
  return only as RunId;
}
