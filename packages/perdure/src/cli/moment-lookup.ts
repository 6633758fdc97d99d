// Entries as they are typed: a number, or the name of a moment.

import type { RunId } from "@perdure/protocol";
import type { AdminClient } from "./api/admin-client.ts";
import { UsageError } from "./errors.ts";

/** @throws UsageError where the run has no moment of that name. */
export async function findEntry(admin: AdminClient, run: RunId, text: string): Promise<number> {
  if (/^\d+$/.test(text)) return Number(text);
  const { moments } = await admin.moments(run);
  const found = moments.find(({ name }) => name === text);
  if (found !== undefined) return found.entry;
  const names = moments.flatMap(({ name }) => (name === null ? [] : [`"${name}"`]));
  throw new UsageError(
    `the run has no moment called "${text}"`,
    names.length === 0 ? "none of its moments has a name; write an entry's number" : `there are ${names.join(", ")}`,
  );
}
