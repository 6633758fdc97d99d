// RFC 4180, as the command line writes it
// =======================================
// V1. A field that a spreadsheet would take for a formula is text: it may come from an agent. A quote before it says so.

import type { JsonValue, SqlAnswer } from "@perdure/protocol";

export function csvOf({ columns, rows }: Pick<SqlAnswer, "columns" | "rows">): string {
  return [columns, ...rows].map((row) => `${row.map(fieldOf).join(",")}\r\n`).join("");
}

export function cellText(cell: JsonValue): string {
  if (cell === null) return "";
  return typeof cell === "object" ? JSON.stringify(cell) : String(cell);
}

function fieldOf(cell: JsonValue): string {
  const text = cellText(cell);
  const safe = typeof cell === "string" && /^[=+\-@\t\r]/.test(text) && !isNumber(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** `-5` is no formula. */
function isNumber(text: string): boolean {
  return /^[+-]?\d+(?:\.\d+)?$/.test(text);
}
