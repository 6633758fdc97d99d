/** Whose keys are listed, and which of them. */
export interface StateSearch {
  readonly service?: string;
  /** A part of the key. */
  readonly find?: string;
}

export function readStateSearch(raw: Readonly<Record<string, unknown>>): StateSearch {
  const { service, find } = raw;
  return {
    ...(typeof service === "string" && service !== "" ? { service } : {}),
    ...(typeof find === "string" && find !== "" ? { find } : {}),
  };
}
