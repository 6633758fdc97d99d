// Stack traces of isolates, in the places of the user's own files.
//
// A bundle is kept together with its source map: as its last line, in the way that scripts name theirs.

import { SourceMap } from "node:module";

const MARK = "\n//# sourceMappingURL=data:application/json;base64,";
/** Name of the script inside isolates, as their stack traces have it. */
export const SCRIPT = "bundle.js";
const PLACE: RegExp = /bundle\.js:(\d+):(\d+)/g;

/** What is stored of a bundle. */
export function withSourceMap(code: string, sourceMap: string): string {
  return `${code}${MARK}${Buffer.from(sourceMap).toString("base64")}\n`;
}

export function splitBundle(stored: string): { readonly code: string; readonly sourceMap: string | null } {
  const at = stored.lastIndexOf(MARK);
  if (at === -1) return { code: stored, sourceMap: null };
  return {
    code: stored.slice(0, at),
    sourceMap: Buffer.from(stored.slice(at + MARK.length), "base64").toString("utf8"),
  };
}

/** Names of a bundle's places. The map is read when the first error comes. */
export class StackTraces {
  readonly #text: string | null;
  #map: SourceMap | undefined = undefined;

  constructor(sourceMap: string | null) {
    this.#text = sourceMap;
  }

  told(stack: string): string {
    if (this.#text === null || !stack.includes(SCRIPT)) return stack;
    this.#map ??= new SourceMap(JSON.parse(this.#text) as ConstructorParameters<typeof SourceMap>[0]);
    const map = this.#map;
    return stack.replace(PLACE, (place, line: string, column: string) => {
      const entry = map.findEntry(Number(line) - 1, Number(column) - 1);
      return "originalSource" in entry
        ? `${entry.originalSource}:${entry.originalLine + 1}:${entry.originalColumn + 1}`
        : place;
    });
  }
}
