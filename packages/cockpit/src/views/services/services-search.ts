/** Of the list of services: what of it is shown. */
export interface ServicesSearch {
  readonly find?: string;
  /** Also what the runtime brings along. */
  readonly own?: "shown";
}

export function readServicesSearch(raw: Readonly<Record<string, unknown>>): ServicesSearch {
  const find = raw["find"];
  return {
    ...(typeof find === "string" && find !== "" ? { find } : {}),
    ...(raw["own"] === "shown" ? { own: "shown" as const } : {}),
  };
}

/** Of one service: the handler that is looked at, and on which key it is called. */
export interface ServiceSearch {
  readonly handler?: string;
  readonly key?: string;
}

export function readServiceSearch(raw: Readonly<Record<string, unknown>>): ServiceSearch {
  const { handler, key } = raw;
  return {
    ...(typeof handler === "string" && handler !== "" ? { handler } : {}),
    ...(typeof key === "string" && key !== "" ? { key } : {}),
  };
}
