// Canonical JSON: one text for one value, whatever order its keys came in (RFC 8785: keys sorted by UTF-16 code units, no
// spaces, numbers and strings as JavaScript writes them). What has no place in JSON is not there: it never came through
// a journal, so it cannot stand in an entry.

import { SerializationError } from "@perdure/protocol";

/** @throws SerializationError where `value` is not plain JSON. */
export function canonicalJson(value: unknown): string {
  switch (typeof value) {
    case "string":
    case "boolean":
      return JSON.stringify(value);
    case "number":
      if (!Number.isFinite(value)) break;
      return JSON.stringify(value);
    case "object":
      if (value === null) return "null";
      if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
      return `{${Object.entries(value)
        .filter(([, member]) => member !== undefined)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`)
        .join(",")}}`;
    default:
      break;
  }
  throw new SerializationError(`${String(value)} cannot be written as canonical JSON`);
}
