// URL: a record of parts, and the text that they make.

import { tag } from "../define.ts";
import { USERINFO, percentEncode } from "./percent.ts";
import { changeUrl, parseUrl, SPECIAL, type State, type UrlRecord } from "./parser.ts";
import { URLSearchParams } from "./search-params.ts";

export class URL {
  #url: UrlRecord;
  #searchParams: URLSearchParams | undefined;

  constructor(input: string | URL, base?: string | URL) {
    const parsed = parse(input, base);
    if (parsed === undefined)
      throw Object.assign(new TypeError("Invalid URL"), {
        code: "ERR_INVALID_URL",
        input: String(input),
        ...(base === undefined ? {} : { base: String(base) }),
      });
    this.#url = parsed;
  }

  static canParse(input: string | URL, base?: string | URL): boolean {
    return parse(input, base) !== undefined;
  }

  static parse(input: string | URL, base?: string | URL): URL | null {
    return URL.canParse(input, base) ? new URL(input, base) : null;
  }

  get href(): string {
    return serialize(this.#url);
  }
  set href(href: string) {
    this.#url = new URL(href).#url;
    this.#queryChanged();
  }

  get origin(): string {
    const { scheme, path } = this.#url;
    if (scheme === "blob" && typeof path === "string") {
      const inner = parseUrl(path, null);
      return inner?.scheme === "http" || inner?.scheme === "https" ? originOf(inner) : "null";
    }
    return SPECIAL.has(scheme) && scheme !== "file" ? originOf(this.#url) : "null";
  }

  get protocol(): string {
    return `${this.#url.scheme}:`;
  }
  set protocol(protocol: string) {
    changeUrl(this.#url, `${protocol}:`, "scheme start");
  }

  get username(): string {
    return this.#url.username;
  }
  set username(username: string) {
    if (this.#hasNoCredentials()) return;
    this.#url.username = percentEncode(String(username), USERINFO);
  }

  get password(): string {
    return this.#url.password;
  }
  set password(password: string) {
    if (this.#hasNoCredentials()) return;
    this.#url.password = percentEncode(String(password), USERINFO);
  }

  get host(): string {
    return hostText(this.#url);
  }
  set host(host: string) {
    this.#change(host, "host");
  }

  get hostname(): string {
    return this.#url.host ?? "";
  }
  set hostname(hostname: string) {
    this.#change(hostname, "hostname");
  }

  get port(): string {
    return this.#url.port === null ? "" : String(this.#url.port);
  }
  set port(port: string) {
    if (this.#hasNoCredentials()) return;
    if (String(port) === "") this.#url.port = null;
    else changeUrl(this.#url, String(port), "port");
  }

  get pathname(): string {
    return pathText(this.#url);
  }
  set pathname(pathname: string) {
    if (typeof this.#url.path === "string") return;
    this.#url.path = [];
    changeUrl(this.#url, String(pathname), "path start");
  }

  get search(): string {
    return this.#url.query === null || this.#url.query === "" ? "" : `?${this.#url.query}`;
  }
  set search(search: string) {
    const text = String(search).replace(/^\?/, "");
    this.#url.query = text === "" ? null : "";
    if (text !== "") changeUrl(this.#url, text, "query");
    this.#queryChanged();
  }

  get searchParams(): URLSearchParams {
    this.#searchParams ??= URLSearchParams._of(this.#url.query ?? "", (query) => {
      this.#url.query = query === "" ? null : query;
    });
    return this.#searchParams;
  }

  get hash(): string {
    return this.#url.fragment === null || this.#url.fragment === "" ? "" : `#${this.#url.fragment}`;
  }
  set hash(hash: string) {
    const text = String(hash).replace(/^#/, "");
    this.#url.fragment = text === "" ? null : "";
    if (text !== "") changeUrl(this.#url, text, "fragment");
  }

  toString(): string {
    return this.href;
  }

  toJSON(): string {
    return this.href;
  }

  #change(text: string, part: State): void {
    if (typeof this.#url.path !== "string") changeUrl(this.#url, String(text), part);
  }

  #queryChanged(): void {
    this.#searchParams?._replace(this.#url.query ?? "");
  }

  #hasNoCredentials(): boolean {
    return this.#url.host === null || this.#url.host === "" || this.#url.scheme === "file";
  }
}

function parse(input: string | URL, base: string | URL | undefined): UrlRecord | undefined {
  if (base === undefined) return parseUrl(String(input), null);
  const parsedBase = parseUrl(String(base), null);
  return parsedBase === undefined ? undefined : parseUrl(String(input), parsedBase);
}

function serialize(url: UrlRecord): string {
  const { scheme, username, password, host, path, query, fragment } = url;
  const secret = password === "" ? "" : `:${password}`;
  const credentials = username === "" && password === "" ? "" : `${username}${secret}@`;
  const authority = host === null ? "" : `//${credentials}${hostText(url)}`;
  // Without it, what begins with two slashes would be read as a host.
  const guard = host === null && Array.isArray(path) && path.length > 1 && path[0] === "" ? "/." : "";
  const end = (query === null ? "" : `?${query}`) + (fragment === null ? "" : `#${fragment}`);
  return `${scheme}:${authority}${guard}${pathText(url)}${end}`;
}

const hostText = ({ host, port }: UrlRecord): string => (host ?? "") + (port === null ? "" : `:${port}`);
const pathText = ({ path }: UrlRecord): string =>
  typeof path === "string" ? path : path.map((segment) => `/${segment}`).join("");
const originOf = (url: UrlRecord): string => `${url.scheme}://${hostText(url)}`;

tag(URL, "URL");
