// An input while it is written: as a form, or as JSON
// ====================================================
//   form ◀──────▶ json (text that is JSON, or empty)
//                  json (text that is none) : the way back is closed until it is, so that nothing is lost
//
// D1. Switching changes nothing of what was written.
// D2. Text that was written is sent as it stands: numbers of many digits are not rounded on their way.

import type { JsonValue } from "@perdure/protocol";
import type { Draft } from "./schema.ts";

export interface InputDraft {
  readonly mode: "form" | "json";
  readonly value: Draft;
  /** In `json`: what was written. */
  readonly text: string;
  /** Why the text is no JSON; null: it is, or is empty. */
  readonly problem: string | null;
}

export function draftOf(mode: InputDraft["mode"], value: Draft): InputDraft {
  return { mode, value, text: textOf(value), problem: null };
}

export function withValue(draft: InputDraft, value: Draft): InputDraft {
  return { ...draft, value, text: textOf(value), problem: null };
}

export function withText(draft: InputDraft, text: string): InputDraft {
  if (text.trim() === "") return { ...draft, text, value: undefined, problem: null };
  try {
    return { ...draft, text, value: JSON.parse(text) as JsonValue, problem: null };
  } catch (error) {
    return { ...draft, text, problem: (error as Error).message };
  }
}

/** D1. The same draft where the way is closed. */
export function inMode(draft: InputDraft, mode: InputDraft["mode"]): InputDraft {
  return draft.problem === null ? { ...draft, mode } : draft;
}

/** JSON text to be sent; null: none. D2. */
export function sentText({ mode, value, text }: InputDraft): string | null {
  if (value === undefined) return null;
  return mode === "json" ? text.trim() : JSON.stringify(value);
}

function textOf(value: Draft): string {
  return value === undefined ? "" : JSON.stringify(value, null, 2);
}
