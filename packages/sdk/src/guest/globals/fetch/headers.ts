// Headers: names without regard to case, values of one name joined, cookies apart.

import { tag } from "../define.ts";

export type HeadersInit = Iterable<Iterable<string>> | Readonly<Record<string, string>> | Headers;

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// oxlint-disable-next-line no-control-regex -- What must not be in a value.
const NOT_IN_VALUE = /[\0\r\n]|[^\0-\xff]/;
const COOKIE = "set-cookie";

export class Headers {
  readonly #values: Map<string, string[]> = new Map();

  constructor(init: HeadersInit = {}) {
    if (typeof init !== "object" || init === null)
      throw new TypeError("Headers are made of pairs, an object or other Headers");
    const pairs = Symbol.iterator in init ? [...init].map((pair) => [...pair]) : Object.entries(init);
    for (const pair of pairs) {
      const [name, value, ...more] = pair as readonly string[];
      if (name === undefined || value === undefined || more.length > 0)
        throw new TypeError("each pair of Headers is a name and a value");
      this.append(name, value);
    }
  }

  append(name: string, value: string): void {
    const [key, text] = [keyOf(name), valueOf(name, value)];
    this.#values.set(key, [...(this.#values.get(key) ?? []), text]);
  }

  delete(name: string): void {
    this.#values.delete(keyOf(name));
  }

  get(name: string): string | null {
    return this.#values.get(keyOf(name))?.join(", ") ?? null;
  }

  getSetCookie(): string[] {
    return [...(this.#values.get(COOKIE) ?? [])];
  }

  has(name: string): boolean {
    return this.#values.has(keyOf(name));
  }

  set(name: string, value: string): void {
    this.#values.set(keyOf(name), [valueOf(name, value)]);
  }

  forEach(callback: (value: string, name: string, headers: Headers) => void, self?: unknown): void {
    for (const [name, value] of this) callback.call(self, value, name, this);
  }

  *entries(): IterableIterator<[string, string]> {
    for (const name of [...this.#values.keys()].toSorted()) {
      const values = this.#values.get(name) ?? [];
      if (name === COOKIE) for (const value of values) yield [name, value];
      else yield [name, values.join(", ")];
    }
  }

  *keys(): IterableIterator<string> {
    for (const [name] of this.entries()) yield name;
  }

  *values(): IterableIterator<string> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries();
  }
}

function keyOf(name: unknown): string {
  const text = String(name);
  if (!NAME.test(text)) throw new TypeError(`"${text}" is no name of a header`);
  return text.toLowerCase();
}

function valueOf(name: unknown, value: unknown): string {
  const text = String(value).replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, "");
  if (NOT_IN_VALUE.test(text))
    throw new TypeError(`the value of the header "${String(name)}" has characters that none can have`);
  return text;
}

tag(Headers, "Headers");
