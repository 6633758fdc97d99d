// Places in a tool's input: `command`, `to.domain`, `files[0].path`, `$` for all of it; `$.` may stand in front, as in the
// messages of failed validations. A key with a dot, a bracket or spaces at its ends has no such path: a function on `$` sees it.

export type InputPath = readonly (string | number)[];

/** A name behind a dot (or at the beginning), or an index. */
const SEGMENT = /(?:^|\.)([^.[\]\s](?:[^.[\]]*[^.[\]\s])?)|\[(\d+)\]/y;

/** Undefined where it has no such form. */
export function parsePath(text: string): InputPath | undefined {
  if (text === "$") return [];
  const rest = text.replace(/^\$(?:\.|(?=\[))/, "");
  if (rest === "" || rest.startsWith(".")) return undefined;
  const path: (string | number)[] = [];
  SEGMENT.lastIndex = 0;
  while (SEGMENT.lastIndex < rest.length) {
    const match = SEGMENT.exec(rest);
    if (match === null) return undefined;
    const [, name, index] = match;
    path.push(name ?? Number(index));
  }
  return path;
}

/** What stands there; undefined where nothing does. What an object inherits is not in the input. */
export function valueAt(input: unknown, path: InputPath): unknown {
  let value = input;
  for (const segment of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, segment)) return undefined;
    value = (value as Readonly<Record<string | number, unknown>>)[segment];
  }
  return value;
}
