// What of a run is shown, as it stands in the address: a part of its page, the entry that is looked at, what is asked.

import { parseRunId, type RunId } from "@perdure/protocol";

export interface RunSearch {
  readonly tab?: RunTab;
  readonly entry?: number;
  readonly scale?: "compact";
  /** Of the tab `streams`: the one that is looked at. */
  readonly stream?: string;
  /** What is about to be done, in a dialog. */
  readonly act?: BranchAct;
  /** Of a fork or a rewind: the entry it goes on from; absent: the one that is looked at, or the last. */
  readonly at?: number;
  /** It was just rewound: what it was before. */
  readonly branch?: RunId;
}

export type BranchAct = "fork" | "rewind";

export type RunTab = "data" | "children" | "state" | "streams";

const ACTS: readonly BranchAct[] = ["fork", "rewind"];
const TABS: readonly RunTab[] = ["data", "children", "state", "streams"];

export function readRunSearch(raw: Readonly<Record<string, unknown>>): RunSearch {
  const tab = TABS.find((known) => known === raw["tab"]);
  const entry = Number(raw["entry"]);
  const act = ACTS.find((known) => known === raw["act"]);
  const at = raw["at"] === undefined ? Number.NaN : Number(raw["at"]);
  const branch = typeof raw["branch"] === "string" ? parseRunId(raw["branch"]) : undefined;
  return {
    ...(tab === undefined ? {} : { tab }),
    ...(Number.isSafeInteger(entry) && entry > 0 ? { entry } : {}),
    ...(typeof raw["stream"] === "string" && raw["stream"] !== "" ? { stream: raw["stream"] } : {}),
    ...(raw["scale"] === "compact" ? { scale: "compact" as const } : {}),
    ...(act === undefined ? {} : { act }),
    ...(act !== undefined && Number.isSafeInteger(at) && at >= 0 ? { at } : {}),
    ...(branch === undefined ? {} : { branch }),
  };
}
