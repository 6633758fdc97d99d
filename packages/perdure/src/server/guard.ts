// The guard stands before the router: who may ask at all
// ======================================================
// G1. A listener that others can reach has a token (`checkBinding`), and every request carries it, but for /health and for
//     what the listener calls open: files that are the same for everybody.
// G2. On a loopback listener the Host header names this machine: a page whose name was made to resolve to 127.0.0.1
//     (DNS rebinding) asks under its own name, and is refused.
// G3. A browser's request that changes something comes from a page of this very server: other pages can send such
//     requests here, though not read the answers.
//
// All of it is one call per request, on one path for every route, so that no route can be forgotten.

import { hash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { BindRefusedError, UnauthorizedError, type PerdureError } from "@perdure/protocol";
import type { HttpOptions } from "./context.ts";
import { RequestError } from "./errors.ts";

const LOCAL_NAMES = ["localhost", "127.0.0.1", "[::1]"];
/** Host headers seen to be fine; a bound against askers that make names up. */
const HOSTS_KEPT = 64;

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

/** @throws BindRefusedError where others could reach the listener, and nothing would stop them. */
export function checkBinding(host: string, token: string | undefined): void {
  if (token !== undefined && token.trim() === "")
    throw new BindRefusedError("the token is empty: pass --token <secret>, or set PERDURE_TOKEN");
  if (token !== undefined || isLoopback(host)) return;
  throw new BindRefusedError(
    `${host} can be reached by others, and whoever reaches it can run code and read everything: listen on 127.0.0.1, or set a token (--token <secret> or PERDURE_TOKEN) that askers then send as "Authorization: Bearer <secret>"`,
  );
}

/** Which requests need no token. */
export type IsOpen = (req: IncomingMessage) => boolean;

export class Guard {
  readonly #isLocal: boolean;
  readonly #names: ReadonlySet<string>;
  readonly #goodHosts = new Set<string>();
  readonly #token: Buffer | null;
  readonly #isOpen: IsOpen;

  constructor(host: string, options: HttpOptions, isOpen: IsOpen = () => false) {
    this.#isLocal = isLoopback(host);
    this.#names = new Set([...LOCAL_NAMES, host, ...(options.hosts ?? [])].map((name) => name.toLowerCase()));
    this.#token = options.token === undefined ? null : digest(`Bearer ${options.token}`);
    this.#isOpen = isOpen;
  }

  /** Why this request is refused; null: it is not. */
  refusal(req: IncomingMessage): PerdureError | null {
    const { headers, method } = req;
    if (this.#isLocal && !this.#goodHosts.has(headers.host ?? "") && !this.#isGoodHost(headers.host))
      return badHost(headers.host);
    if (
      method !== "GET" &&
      method !== "HEAD" &&
      (headers.origin !== undefined || headers["sec-fetch-site"] !== undefined)
    ) {
      const refused = crossOrigin(req);
      if (refused !== null) return refused;
    }
    if (this.#token === null || isHealth(req.url) || this.#isOpen(req)) return null;
    const { authorization } = headers;
    if (authorization !== undefined && timingSafeEqual(digest(`Bearer ${bearerOf(authorization)}`), this.#token))
      return null;
    return new UnauthorizedError(
      authorization === undefined
        ? 'credentials are missing: send "Authorization: Bearer <token>"'
        : "the credentials are wrong: the token is not the server's",
    );
  }

  #isGoodHost(host: string | undefined): boolean {
    if (host === undefined) return false;
    const name = host.replace(/:\d+$/, "").toLowerCase();
    if (!this.#names.has(name)) return false;
    if (this.#goodHosts.size < HOSTS_KEPT) this.#goodHosts.add(host);
    return true;
  }
}

/** A GET that starts something (a handler without input) is held to the same: images and links ask without an Origin. */
export function crossOrigin(req: IncomingMessage): PerdureError | null {
  const { origin, host } = req.headers;
  const site = req.headers["sec-fetch-site"];
  const isForeign =
    origin === undefined
      ? site !== undefined && site !== "same-origin" && site !== "none"
      : hostOf(origin) !== host?.toLowerCase();
  if (!isForeign) return null;
  return new RequestError(
    403,
    `a page of another origin (${origin ?? String(site)}) may not send requests here: send them from your server, or through a proxy of the page's own origin`,
  );
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

function badHost(host: string | undefined): PerdureError {
  if (host === undefined) return new RequestError(400, "the Host header is missing");
  return new RequestError(
    403,
    `"${host}" is not a name of this server: ask for localhost or 127.0.0.1, or allow the name (hosts)`,
  );
}

function isHealth(url: string | undefined): boolean {
  return url === "/health" || url?.startsWith("/health?") === true;
}

/** The scheme's name is case-insensitive. */
function bearerOf(authorization: string): string {
  return /^bearer +(.*)$/i.exec(authorization)?.[1] ?? "";
}

/** Equal lengths, so that the comparison tells nothing by its time. */
function digest(text: string): Buffer {
  return hash("sha256", text, "buffer");
}
