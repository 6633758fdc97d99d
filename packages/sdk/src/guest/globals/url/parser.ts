// URLs from texts, as https://url.spec.whatwg.org has it: a machine that reads a character at a time
// ==================================================================================================
// A setter of URL is the same machine, begun in the middle: `override` is the state that it begins in, and it stops when that
// part is read. The names of the states are the standard's.

import { parseHost } from "./host.ts";
import { CONTROL, FRAGMENT, PATH, percentEncode, QUERY, SPECIAL_QUERY, USERINFO } from "./percent.ts";

export interface UrlRecord {
  scheme: string;
  username: string;
  password: string;
  host: string | null;
  port: number | null;
  /** A text where it is opaque: `mailto:a@b`. */
  path: string | string[];
  query: string | null;
  fragment: string | null;
}

export const SPECIAL: ReadonlyMap<string, number | null> = new Map([
  ["ftp", 21],
  ["file", null],
  ["http", 80],
  ["https", 443],
  ["ws", 80],
  ["wss", 443],
]);

export type State =
  | "scheme start"
  | "scheme"
  | "no scheme"
  | "special relative or authority"
  | "path or authority"
  | "relative"
  | "relative slash"
  | "special authority slashes"
  | "special authority ignore slashes"
  | "authority"
  | "host"
  | "hostname"
  | "port"
  | "file"
  | "file slash"
  | "file host"
  | "path start"
  | "path"
  | "opaque path"
  | "query"
  | "fragment";

/** What a state says of a character: go on, the part is read, it is no URL. */
type Step = "next" | "done" | "failure";

const WINDOWS_LETTER = /^[A-Za-z][:|]$/;
const END = "";

/** Undefined where it is no URL. */
export function parseUrl(input: string, base: UrlRecord | null): UrlRecord | undefined {
  // oxlint-disable-next-line no-control-regex -- What may stand around a URL.
  const trimmed = input.toWellFormed().replace(/^[\0-\x20]+|[\0-\x20]+$/g, "");
  const machine = new UrlMachine(trimmed, base, emptyUrl(), undefined);
  return machine.run("scheme start") ? machine.url : undefined;
}

/** Changes a part of a URL; what cannot be leaves it as it is. */
export function changeUrl(url: UrlRecord, input: string, override: State): void {
  const copy = copyUrl(url);
  if (new UrlMachine(input.toWellFormed(), null, copy, override).run(override)) Object.assign(url, copy);
}

const emptyUrl = (): UrlRecord => ({
  scheme: "",
  username: "",
  password: "",
  host: null,
  port: null,
  path: [],
  query: null,
  fragment: null,
});

const copyUrl = (url: UrlRecord): UrlRecord => ({ ...url, path: Array.isArray(url.path) ? [...url.path] : url.path });

class UrlMachine {
  readonly url: UrlRecord;
  readonly #characters: readonly string[];
  readonly #base: UrlRecord | null;
  readonly #override: State | undefined;
  #state: State = "scheme start";
  #at = 0;
  #buffer = "";
  #hasAt = false;
  #inBrackets = false;
  #hasPasswordToken = false;

  constructor(input: string, base: UrlRecord | null, url: UrlRecord, override: State | undefined) {
    this.#characters = Array.from(input.replace(/[\t\n\r]/g, ""));
    this.#base = base;
    this.url = url;
    this.#override = override;
  }

  run(from: State): boolean {
    this.#state = from;
    for (this.#at = 0; ; this.#at += 1) {
      const character = this.#characters[this.#at] ?? END;
      const step = this.#step(character);
      if (step === "failure") return false;
      if (step === "done" || (this.#at >= this.#characters.length && character === END)) return true;
    }
  }

  #step(c: string): Step {
    switch (this.#state) {
      case "scheme start":
        return this.#schemeStart(c);
      case "scheme":
        return this.#scheme(c);
      case "no scheme":
        return this.#noScheme(c);
      case "special relative or authority":
        if (c === "/" && this.#peek(1) === "/") return this.#go("special authority ignore slashes", 1);
        return this.#again("relative");
      case "path or authority":
        return c === "/" ? this.#go("authority") : this.#again("path");
      case "relative":
        return this.#relative(c);
      case "relative slash":
        return this.#relativeSlash(c);
      case "special authority slashes":
        if (c === "/" && this.#peek(1) === "/") return this.#go("special authority ignore slashes", 1);
        return this.#again("special authority ignore slashes");
      case "special authority ignore slashes":
        return c !== "/" && c !== "\\" ? this.#again("authority") : "next";
      case "authority":
        return this.#authority(c);
      case "host":
      case "hostname":
        return this.#host(c);
      case "port":
        return this.#port(c);
      case "file":
        return this.#file(c);
      case "file slash":
        return this.#fileSlash(c);
      case "file host":
        return this.#fileHost(c);
      case "path start":
        return this.#pathStart(c);
      case "path":
        return this.#path(c);
      case "opaque path":
        return this.#opaquePath(c);
      case "query":
        return this.#query(c);
      case "fragment":
        if (c !== END) this.url.fragment += percentEncode(c, FRAGMENT);
        return "next";
      default:
        return this.#state satisfies never;
    }
  }

  get #isSpecial(): boolean {
    return SPECIAL.has(this.url.scheme);
  }

  #peek(ahead: number): string {
    return this.#characters[this.#at + ahead] ?? END;
  }

  #go(state: State, skip = 0): Step {
    this.#state = state;
    this.#at += skip;
    return "next";
  }

  /** The same character, in another state. */
  #again(state: State): Step {
    return this.#go(state, -1);
  }

  #isSlash(c: string): boolean {
    return c === "/" || (this.#isSpecial && c === "\\");
  }

  #endsPart(c: string): boolean {
    return c === END || c === "?" || c === "#" || this.#isSlash(c);
  }

  #schemeStart(c: string): Step {
    if (/^[A-Za-z]$/.test(c)) {
      this.#buffer += c.toLowerCase();
      return this.#go("scheme");
    }
    return this.#override === undefined ? this.#again("no scheme") : "failure";
  }

  #scheme(c: string): Step {
    if (/^[A-Za-z0-9+\-.]$/.test(c)) {
      this.#buffer += c.toLowerCase();
      return "next";
    }
    if (c !== ":" || (this.#override !== undefined && !this.#mayBecome(this.#buffer))) {
      if (this.#override !== undefined) return "failure";
      this.#buffer = "";
      this.#at = -1;
      this.#state = "no scheme";
      return "next";
    }
    const { url } = this;
    url.scheme = this.#buffer;
    this.#buffer = "";
    if (this.#override !== undefined) {
      if (url.port === SPECIAL.get(url.scheme)) url.port = null;
      return "done";
    }
    if (url.scheme === "file") return this.#go("file");
    if (this.#isSpecial)
      return this.#go(
        this.#base?.scheme === url.scheme ? "special relative or authority" : "special authority slashes",
      );
    if (this.#peek(1) === "/") return this.#go("path or authority", 1);
    url.path = "";
    return this.#go("opaque path");
  }

  /** Whether a setter may give the URL that scheme. */
  #mayBecome(scheme: string): boolean {
    const { url } = this;
    if (this.#isSpecial !== SPECIAL.has(scheme)) return false;
    if (scheme === "file" && (url.username !== "" || url.password !== "" || url.port !== null)) return false;
    return !(url.scheme === "file" && (url.host === null || url.host === ""));
  }

  #noScheme(c: string): Step {
    const base = this.#base;
    if (base === null) return "failure";
    if (typeof base.path === "string") {
      if (c !== "#") return "failure";
      Object.assign(this.url, copyUrl(base), { fragment: "" });
      return this.#go("fragment");
    }
    return this.#again(base.scheme === "file" ? "file" : "relative");
  }

  #relative(c: string): Step {
    const base = this.#base as UrlRecord;
    this.url.scheme = base.scheme;
    if (this.#isSlash(c)) return this.#go("relative slash");
    Object.assign(this.url, copyUrl(base), { fragment: null });
    return this.#afterBase(c, () => shorten(this.url));
  }

  /** What follows the part that was taken from the base. */
  #afterBase(c: string, beforePath: () => void): Step {
    if (c === "?") {
      this.url.query = "";
      return this.#go("query");
    }
    if (c === "#") {
      this.url.fragment = "";
      return this.#go("fragment");
    }
    if (c === END) return "next";
    this.url.query = null;
    beforePath();
    return this.#again("path");
  }

  #relativeSlash(c: string): Step {
    if (this.#isSpecial && (c === "/" || c === "\\")) return this.#go("special authority ignore slashes");
    if (c === "/") return this.#go("authority");
    const { username, password, host, port } = this.#base as UrlRecord;
    Object.assign(this.url, { username, password, host, port });
    return this.#again("path");
  }

  #authority(c: string): Step {
    if (c === "@") {
      if (this.#hasAt) this.#buffer = `%40${this.#buffer}`;
      this.#hasAt = true;
      for (const character of this.#buffer) this.#credential(character);
      this.#buffer = "";
      return "next";
    }
    if (!this.#endsPart(c)) {
      this.#buffer += c;
      return "next";
    }
    if (this.#hasAt && this.#buffer === "") return "failure";
    this.#at -= Array.from(this.#buffer).length + 1;
    this.#buffer = "";
    return this.#go("host");
  }

  #credential(character: string): void {
    if (character === ":" && !this.#hasPasswordToken) this.#hasPasswordToken = true;
    else if (this.#hasPasswordToken) this.url.password += percentEncode(character, USERINFO);
    else this.url.username += percentEncode(character, USERINFO);
  }

  #host(c: string): Step {
    if (this.#override !== undefined && this.url.scheme === "file") return this.#again("file host");
    if (c === ":" && !this.#inBrackets) {
      if (this.#buffer === "" || this.#override === "hostname") return "failure";
      if (!this.#setHost()) return "failure";
      return this.#go("port");
    }
    if (this.#endsPart(c)) {
      this.#at -= 1;
      if (this.#isSpecial && this.#buffer === "") return "failure";
      const { username, password, port } = this.url;
      const hasMore = username !== "" || password !== "" || port !== null;
      if (this.#override !== undefined && this.#buffer === "" && hasMore) return "failure";
      if (!this.#setHost()) return "failure";
      this.#state = "path start";
      return this.#override === undefined ? "next" : "done";
    }
    if (c === "[") this.#inBrackets = true;
    if (c === "]") this.#inBrackets = false;
    this.#buffer += c;
    return "next";
  }

  #setHost(): boolean {
    const host = this.#buffer === "" ? "" : parseHost(this.#buffer, this.#isSpecial);
    if (host === undefined) return false;
    this.url.host = host;
    this.#buffer = "";
    return true;
  }

  #port(c: string): Step {
    if (/^\d$/.test(c)) {
      this.#buffer += c;
      return "next";
    }
    if (!this.#endsPart(c) && this.#override === undefined) return "failure";
    if (this.#buffer !== "") {
      const port = Number(this.#buffer);
      if (port > 65_535) return "failure";
      this.url.port = port === SPECIAL.get(this.url.scheme) ? null : port;
      this.#buffer = "";
      if (this.#override !== undefined) return "done";
    }
    return this.#override === undefined ? this.#again("path start") : "failure";
  }

  #file(c: string): Step {
    const { url } = this;
    url.scheme = "file";
    url.host = "";
    if (c === "/" || c === "\\") return this.#go("file slash");
    const base = this.#base;
    if (base?.scheme !== "file") return this.#again("path");
    Object.assign(url, { host: base.host, path: copyUrl(base).path, query: base.query });
    return this.#afterBase(c, () => {
      if (this.#startsWithWindowsLetter()) url.path = [];
      else shorten(url);
    });
  }

  #startsWithWindowsLetter(): boolean {
    const after = this.#peek(2);
    return WINDOWS_LETTER.test(this.#peek(0) + this.#peek(1)) && ["", "/", "\\", "?", "#"].includes(after);
  }

  #fileSlash(c: string): Step {
    if (c === "/" || c === "\\") return this.#go("file host");
    const base = this.#base;
    if (base?.scheme === "file") {
      this.url.host = base.host;
      const first = base.path[0] ?? "";
      if (!this.#startsWithWindowsLetter() && /^[A-Za-z]:$/.test(first)) (this.url.path as string[]).push(first);
    }
    return this.#again("path");
  }

  #fileHost(c: string): Step {
    if (c !== END && !["/", "\\", "?", "#"].includes(c)) {
      this.#buffer += c;
      return "next";
    }
    this.#at -= 1;
    if (this.#override === undefined && WINDOWS_LETTER.test(this.#buffer)) return this.#go("path");
    if (!this.#setHost()) return "failure";
    if (this.url.host === "localhost") this.url.host = "";
    this.#state = "path start";
    return this.#override === undefined ? "next" : "done";
  }

  #pathStart(c: string): Step {
    if (this.#isSpecial) return c === "/" || c === "\\" ? this.#go("path") : this.#again("path");
    if (this.#override === undefined && (c === "?" || c === "#")) return this.#afterPath(c);
    if (c !== END) return c === "/" ? this.#go("path") : this.#again("path");
    if (this.#override !== undefined && this.url.host === null) (this.url.path as string[]).push("");
    return "next";
  }

  #afterPath(c: string): Step {
    if (c === "?") {
      this.url.query = "";
      return this.#go("query");
    }
    this.url.fragment = "";
    return this.#go("fragment");
  }

  #path(c: string): Step {
    const ends = c === END || this.#isSlash(c) || (this.#override === undefined && (c === "?" || c === "#"));
    if (!ends) {
      this.#buffer += percentEncode(c, PATH);
      return "next";
    }
    this.#endSegment(this.#isSlash(c));
    this.#buffer = "";
    return c === "?" || c === "#" ? this.#afterPath(c) : "next";
  }

  #endSegment(hasSlash: boolean): void {
    const { url } = this;
    const path = url.path as string[];
    const segment = this.#buffer;
    if (isDoubleDot(segment)) {
      shorten(url);
      if (!hasSlash) path.push("");
    } else if (isSingleDot(segment)) {
      if (!hasSlash) path.push("");
    } else {
      const isDrive = url.scheme === "file" && path.length === 0 && WINDOWS_LETTER.test(segment);
      path.push(isDrive ? `${segment[0]}:` : segment);
    }
  }

  #opaquePath(c: string): Step {
    if (c === "?" || c === "#") return this.#afterPath(c);
    if (c === " ") {
      const next = this.#peek(1);
      this.url.path = `${this.url.path as string}${next === "?" || next === "#" ? "%20" : " "}`;
    } else if (c !== END) this.url.path = `${this.url.path as string}${percentEncode(c, CONTROL)}`;
    return "next";
  }

  #query(c: string): Step {
    if (c === END || (c === "#" && this.#override === undefined)) return c === "#" ? this.#afterPath(c) : "next";
    this.url.query += percentEncode(c, this.#isSpecial ? SPECIAL_QUERY : QUERY);
    return "next";
  }
}

const isSingleDot = (segment: string): boolean => /^(?:\.|%2e)$/i.test(segment);
const isDoubleDot = (segment: string): boolean => /^(?:\.|%2e){2}$/i.test(segment);

function shorten(url: UrlRecord): void {
  const path = url.path as string[];
  if (url.scheme === "file" && path.length === 1 && /^[A-Za-z]:$/.test(path[0] ?? "")) return;
  path.pop();
}
