// What does the same to many runs on the command line; null where nothing does.

import { showsAll, statusesOf, type RunsSearch } from "./runs-search.ts";
import type { RunAction } from "./act-on-many.ts";
import type { Selection } from "./selection.ts";

const FILTERS = ["service", "handler", "key", "parent", "since", "until"] as const;

export function commandOfMany(action: RunAction, selection: Selection, search: RunsSearch): string | null {
  if (action === "restart") {
    // There it is one run at a time.
    const [id, ...others] = selection.kind === "some" ? selection.ids : [];
    return id === undefined || others.length > 0 ? null : `npx perdure restart ${id} --from 1`;
  }
  if (selection.kind === "some") return ["npx perdure", action, ...selection.ids].join(" ");
  if (!showsAll(search)) return null; // The page leaves runs out that the filter finds.
  const statuses = statusesOf(search);
  const options = [
    ...(statuses.length === 0 ? [] : [`--status ${statuses.join(",")}`]),
    ...FILTERS.flatMap((name) => (search[name] === undefined ? [] : [`--${name} ${shellWord(search[name])}`])),
  ];
  return ["npx perdure", action, ...(options.length === 0 ? ["--all"] : options)].join(" ");
}

function shellWord(text: string): string {
  return /^[\w./:@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
