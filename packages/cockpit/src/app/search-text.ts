// Search parameters as people read and write them: `?status=paused,failed&service=mailer`. All of them are texts; a view
// says what it makes of them (`validateSearch`).

export function parseSearch(search: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(search));
}

export function searchText(search: Readonly<Record<string, unknown>>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    if (typeof value === "number" || (typeof value === "string" && value !== "")) params.set(name, String(value));
  }
  // Commas and colons are harmless in a query, and read better as they are.
  const text = params.toString().replaceAll("%2C", ",").replaceAll("%3A", ":").replaceAll("%2F", "/");
  return text === "" ? "" : `?${text}`;
}
