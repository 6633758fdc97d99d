/** What of a run is shown: a part of its page, and the entry that is looked at. */
export interface RunSearch {
  readonly tab?: RunTab;
  readonly entry?: number;
  readonly scale?: "compact";
  /** Of the tab `streams`: the one that is looked at. */
  readonly stream?: string;
}

export type RunTab = "data" | "children" | "state" | "streams";

const TABS: readonly RunTab[] = ["data", "children", "state", "streams"];

export function readRunSearch(raw: Readonly<Record<string, unknown>>): RunSearch {
  const tab = TABS.find((known) => known === raw["tab"]);
  const entry = Number(raw["entry"]);
  return {
    ...(tab === undefined ? {} : { tab }),
    ...(Number.isSafeInteger(entry) && entry > 0 ? { entry } : {}),
    ...(typeof raw["stream"] === "string" && raw["stream"] !== "" ? { stream: raw["stream"] } : {}),
    ...(raw["scale"] === "compact" ? { scale: "compact" as const } : {}),
  };
}
