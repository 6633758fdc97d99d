// Which runs are chosen: some of them by hand, or all that the search finds.

import type { RunId } from "@perdure/protocol";

export type Selection =
  | { readonly kind: "some"; readonly ids: ReadonlySet<RunId> }
  /** All that match, also those that were not loaded. */
  | { readonly kind: "matching" };

export const NOTHING: Selection = { kind: "some", ids: new Set() };

export function isSelected(selection: Selection, id: RunId): boolean {
  return selection.kind === "matching" || selection.ids.has(id);
}

/** One run more, or one less; of all that match, none is left out: then it begins with this one. */
export function toggle(selection: Selection, id: RunId): Selection {
  const ids = new Set(selection.kind === "matching" ? [] : selection.ids);
  if (!ids.delete(id)) ids.add(id);
  return { kind: "some", ids };
}
