// Where a text stops being JSON: offset, line and column, and the path in the value.
//
// `JSON.parse` says that a text is wrong, not always where. This scanner runs only after it did, over the same text.

export interface JsonPlace {
  /** In UTF-16 units, from 0. */
  readonly offset: number;
  readonly line: number;
  readonly column: number;
  /** `$`, `$.items[3].name`. */
  readonly path: string;
}

interface Level {
  readonly isObject: boolean;
  /** The name or index that is being read. */
  at: string | number;
  state: "first" | "value" | "separator" | "name";
}

const LITERALS = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// oxlint-disable-next-line no-control-regex -- JSON strings exclude control characters.
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

/** Undefined where `text` is JSON. */
export function findJsonError(text: string): JsonPlace | undefined {
  const scanner = new Scanner(text);
  const offset = scanner.scan();
  if (offset === undefined) return undefined;
  const before = text.slice(0, offset);
  const line = before.split("\n").length;
  return { offset, line, column: offset - (before.lastIndexOf("\n") + 1) + 1, path: scanner.path };
}

class Scanner {
  readonly #text: string;
  readonly #levels: Level[] = [];
  #at = 0;
  #isDone = false;

  constructor(text: string) {
    this.#text = text;
  }

  get path(): string {
    return `$${this.#levels.map(({ at }) => (typeof at === "number" ? `[${at}]` : at === "" ? "" : `.${at}`)).join("")}`;
  }

  /** Offset of the first character that cannot stand where it stands. */
  scan(): number | undefined {
    for (;;) {
      this.#skipSpace();
      const level = this.#levels.at(-1);
      if (this.#at >= this.#text.length) return this.#isDone ? undefined : this.#at;
      if (this.#isDone) return this.#at;
      const isFine = level === undefined || level.state === "value" ? this.#value() : this.#inside(level);
      if (!isFine) return this.#at;
    }
  }

  #inside(level: Level): boolean {
    const character = this.#text[this.#at];
    if (character === (level.isObject ? "}" : "]") && level.state !== "name") return this.#close();
    if (level.state === "separator") {
      if (character !== ",") return false;
      this.#at += 1;
      if (!level.isObject) level.at = Number(level.at) + 1;
      level.state = level.isObject ? "name" : "value";
      return true;
    }
    if (!level.isObject) return this.#value();
    const name = this.#match(STRING);
    if (name === undefined) return false;
    level.at = JSON.parse(name) as string;
    this.#skipSpace();
    if (this.#text[this.#at] !== ":") return false;
    this.#at += 1;
    level.state = "value";
    return true;
  }

  #value(): boolean {
    const character = this.#text[this.#at];
    if (character === "{" || character === "[") {
      this.#at += 1;
      this.#levels.push({ isObject: character === "{", at: character === "{" ? "" : 0, state: "first" });
      return true;
    }
    const token = this.#match(character === '"' ? STRING : LITERALS);
    if (token === undefined) return false;
    this.#afterValue();
    return true;
  }

  #close(): boolean {
    this.#at += 1;
    this.#levels.pop();
    this.#afterValue();
    return true;
  }

  #afterValue(): void {
    const level = this.#levels.at(-1);
    if (level === undefined) this.#isDone = true;
    else level.state = "separator";
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const token = pattern.exec(this.#text)?.[0];
    if (token !== undefined) this.#at += token.length;
    return token;
  }

  #skipSpace(): void {
    while (" \t\n\r".includes(this.#text[this.#at] ?? "x")) this.#at += 1;
  }
}
