"use host";

export async function hands(what: string): Promise<string> {
  return what;
}
