// An export: a chain as JSON lines, one entry a line, oldest first. It proves itself: `verifyChain(parseAudit(text))`.

import { ValidationError } from "@perdure/protocol";
import { PAGE_ENTRIES_DEFAULT } from "./schemas.ts";
import type { AuditEntry, AuditPage, AuditRange } from "./types.ts";

/**
 * The lines of a chain, up to its head as the export began.
 * @param read gives a page: `(range) => ctx.call(audit, "main").read(range)`, or the same by a client.
 */
export async function* exportAudit(
  read: (range: AuditRange) => Promise<AuditPage>,
  range: { readonly from?: number; readonly pageEntries?: number } = {},
): AsyncGenerator<string, void, undefined> {
  const { from = 0, pageEntries = PAGE_ENTRIES_DEFAULT } = range;
  let end = Number.POSITIVE_INFINITY;
  for (let next: number | undefined = from; next !== undefined && next < end; ) {
    const page: AuditPage = await read({ from: next, limit: Math.min(pageEntries, end - next) });
    end = Math.min(end, page.head.count);
    for (const entry of page.entries) yield `${JSON.stringify(entry)}\n`;
    next = page.next;
  }
}

/**
 * Entries of an export, as they stand there: whether they are what was recorded, `verifyChain` says.
 * @throws ValidationError that names the line that is not JSON.
 */
export function parseAudit(text: string): AuditEntry[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line, index) => {
    try {
      return JSON.parse(line) as AuditEntry;
    } catch (cause) {
      throw new ValidationError(`line ${index + 1} of the audit export is not JSON: ${(cause as Error).message}`, {
        cause,
      });
    }
  });
}
