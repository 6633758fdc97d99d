// URLSearchParams, on its own or as the query of a URL.

import { tag } from "../define.ts";
import { TextDecoder } from "../text-encoding.ts";
import { formEncode, percentDecode } from "./percent.ts";

type Pair = [name: string, value: string];
export type SearchParamsInit = string | Iterable<Iterable<string>> | Readonly<Record<string, string>> | URLSearchParams;

export class URLSearchParams {
  #pairs: Pair[] = [];
  #changed: (query: string) => void = () => undefined;

  constructor(init: SearchParamsInit = "") {
    this.#pairs = pairsOf(init);
  }

  /** @internal The query of a URL, which is told of changes. */
  static _of(query: string, changed: (query: string) => void): URLSearchParams {
    const params = new URLSearchParams(query);
    params.#changed = changed;
    return params;
  }

  /** @internal The URL has another query now. */
  _replace(query: string): void {
    this.#pairs = parseForm(query);
  }

  get size(): number {
    return this.#pairs.length;
  }

  append(name: string, value: string): void {
    this.#pairs.push([text(name), text(value)]);
    this.#update();
  }

  delete(name: string, value?: string): void {
    this.#pairs = this.#pairs.filter(
      (pair) => pair[0] !== text(name) || (value !== undefined && pair[1] !== text(value)),
    );
    this.#update();
  }

  get(name: string): string | null {
    return this.#pairs.find((pair) => pair[0] === text(name))?.[1] ?? null;
  }

  getAll(name: string): string[] {
    return this.#pairs.filter((pair) => pair[0] === text(name)).map((pair) => pair[1]);
  }

  has(name: string, value?: string): boolean {
    return this.#pairs.some((pair) => pair[0] === text(name) && (value === undefined || pair[1] === text(value)));
  }

  set(name: string, value: string): void {
    const first = this.#pairs.findIndex((pair) => pair[0] === text(name));
    if (first === -1) this.#pairs.push([text(name), text(value)]);
    else
      this.#pairs = this.#pairs
        .filter((pair, at) => at <= first || pair[0] !== text(name))
        .map((pair, at) => (at === first ? [pair[0], text(value)] : pair));
    this.#update();
  }

  sort(): void {
    this.#pairs.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
    this.#update();
  }

  forEach(callback: (value: string, name: string, params: URLSearchParams) => void, self?: unknown): void {
    for (const [name, value] of this) callback.call(self, value, name, this);
  }

  *entries(): IterableIterator<[string, string]> {
    for (let at = 0; at < this.#pairs.length; at += 1) yield [...(this.#pairs[at] as Pair)];
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

  toString(): string {
    return this.#pairs.map(([name, value]) => `${formEncode(name)}=${formEncode(value)}`).join("&");
  }

  #update(): void {
    this.#changed(this.toString());
  }
}

const text = (value: unknown): string => String(value).toWellFormed();

function pairsOf(init: SearchParamsInit): Pair[] {
  if (typeof init !== "object" || init === null) return parseForm(text(init).replace(/^\?/, ""));
  if (typeof (init as { [Symbol.iterator]?: unknown })[Symbol.iterator] !== "function")
    return Object.entries(init).map(([name, value]) => [text(name), text(value)]);
  return [...(init as Iterable<Iterable<string>>)].map((item) => {
    const [name, value, ...more] = [...item];
    if (name === undefined || value === undefined || more.length > 0)
      throw new TypeError("each pair of URLSearchParams is a name and a value");
    return [text(name), text(value)];
  });
}

/** `application/x-www-form-urlencoded`. */
export function parseForm(query: string): Pair[] {
  const decode = (part: string): string =>
    new TextDecoder("utf-8", { ignoreBOM: true }).decode(percentDecode(part.replaceAll("+", " ")));
  return query
    .split("&")
    .filter((part) => part !== "")
    .map((part) => {
      const at = part.indexOf("=");
      return at === -1 ? [decode(part), ""] : [decode(part.slice(0, at)), decode(part.slice(at + 1))];
    });
}

tag(URLSearchParams, "URLSearchParams");
