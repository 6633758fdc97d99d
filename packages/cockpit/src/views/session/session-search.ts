/** What of a session is shown: a part of its page, and the item that is looked at. */
export interface SessionSearch {
  readonly tab?: SessionTab;
  /** Offset in the transcript. */
  readonly at?: number;
}

export type SessionTab = "transcript" | "details";

export function readSessionSearch(raw: Readonly<Record<string, unknown>>): SessionSearch {
  const { tab } = raw;
  const at = raw["at"] === undefined || raw["at"] === "" ? Number.NaN : Number(raw["at"]);
  return {
    ...(tab === "transcript" || tab === "details" ? { tab } : {}),
    ...(Number.isSafeInteger(at) && at >= 0 ? { at } : {}),
  };
}
