/** The schedule that is looked at. */
export interface SchedulesSearch {
  readonly name?: string;
}

export function readSchedulesSearch(raw: Readonly<Record<string, unknown>>): SchedulesSearch {
  const { name } = raw;
  return typeof name === "string" && name !== "" ? { name } : {};
}
