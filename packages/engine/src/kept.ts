// Kept results: results whose bytes stand in a stream and not in the journal. Stores write the entry without them, and put
// them together again with the items that they find.

import { failureResult, itemList, ItemsTrimmedError, type Kept, type Payload, type Result } from "@perdure/protocol";

/** @param start the stream's first offset that was not trimmed. @param items those that `kept` names, where they are there. */
export function keptResult(kept: Kept, start: number, items: readonly Payload[]): Result {
  const [first] = items;
  if (kept.from < start || items.length !== kept.count || first === undefined) {
    const last = kept.from + kept.count - 1;
    const which = kept.count === 1 ? `item ${kept.from}` : `items ${kept.from} to ${last}`;
    return failureResult(
      new ItemsTrimmedError(
        `the result stands in stream "${kept.stream}" as ${which}, but the stream was trimmed before ${start}. Restart the run from entry 1, or from the first one that needs only what is still there`,
        { metadata: { stream: kept.stream, from: String(kept.from), start: String(start) } },
      ).toFailure(),
    );
  }
  return { kind: "value", value: kept.form === "item" ? first : itemList(items) };
}
