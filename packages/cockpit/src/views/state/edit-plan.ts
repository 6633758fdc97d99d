// An edit of one value, from what was read to what is asked of the API
// =====================================================================
//   reading ─▶ editing (base: what was there) ─▶ reviewed ─▶ saved
//                  │ the value changes meanwhile
//                  ▼
//              conflict ─▶ take theirs (base and draft are the new value), or keep mine (only the base is)
//
// E1. What is saved replaces exactly what was looked at: the API is told what is expected, and compares as it commits.

import type { JsonValue, StateEdit } from "@perdure/protocol";
import { sameJson } from "../../schema-form/check-value.ts";

/** Undefined: the name has no value. */
export type Stored = JsonValue | undefined;

export function isSame(a: Stored, b: Stored): boolean {
  return a === undefined || b === undefined ? a === b : sameJson(a, b);
}

/** Somebody else changed it since it was read; not, where they wrote what is written here, too. */
export function isConflict(base: Stored, draft: Stored, current: Stored): boolean {
  return !isSame(base, current) && !isSame(draft, current);
}

export interface EditPlan {
  readonly name: string;
  readonly base: Stored;
  /** Undefined removes it. */
  readonly next: Stored;
  readonly force: boolean;
}

/** E1. */
export function stateEdit({ name, base, next, force }: EditPlan): StateEdit {
  return {
    ...(next === undefined ? { clear: [name] } : { set: { [name]: next } }),
    expect: base === undefined ? { absent: [name] } : { values: { [name]: base } },
    ...(force ? { force: true } : {}),
  };
}

/** All that a key has goes, as it was seen. */
export function clearAll(state: Readonly<Record<string, JsonValue>>, force: boolean): StateEdit {
  return { clear: Object.keys(state), expect: { values: state }, ...(force ? { force: true } : {}) };
}

/** Bytes, and what was too large to be shown, cannot be edited as JSON. */
export function isEditable(value: JsonValue): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return true;
  const names = Object.keys(value);
  return !(names.length === 1 && (names[0] === "base64" || names[0] === "omitted"));
}
