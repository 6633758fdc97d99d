// The cockpit's files, served by the admin listener under /ui/
// ============================================================
// C1. What is served is what the build put into the package; no path of a request reaches a file beside it.
// C2. A page of the cockpit is the same index.html at every address under /ui/: what is shown is read from the address by
//     the page itself. Only it is asked for anew each time; the assets it names carry a hash in their names, and are kept.
// C3. The policy lets a page run and load what comes from here, and nothing else: no inline script, no style attribute in
//     markup, no frame around it, no address outside.
// C4. These files are the same for everybody and hold nothing of the runtime. So a browser may load them without a token,
//     and the page then asks for it.

import { readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { fileURLToPath } from "node:url";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { wantsPage } from "./approvals.ts";
import { RequestError } from "./errors.ts";

/** From the sources as from what is built. */
const FOLDER: string = fileURLToPath(new URL("../../dist/cockpit/", import.meta.url));

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": POLICY,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  vary: "accept-encoding",
};

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  woff2: "font/woff2",
};

const KEPT_FOR_GOOD = "public, max-age=31536000, immutable";

/** What a browser may ask for without a token (C4). */
export function isCockpitRequest({ method, url = "" }: IncomingMessage): boolean {
  if (method !== "GET" && method !== "HEAD") return false;
  return url === "/" || url === "/ui" || url.startsWith("/ui/") || url.startsWith("/ui?") || url.startsWith("/?");
}

/** @param folder where the built files are; the package's own, but for tests. */
export function cockpitRoutes(app: FastifyInstance, folder: string = FOLDER): void {
  const schema = { hide: true };
  const method = ["GET", "HEAD"];
  const toCockpit = async (_: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> =>
    reply.header("cache-control", "no-store").redirect("/ui/", 302);
  app.route({ method, url: "/ui", schema, handler: toCockpit });
  app.route({
    method,
    url: "/",
    schema,
    handler: async (request, reply) => {
      // Programs are told where everything stands, as at any other path that leads nowhere.
      if (!wantsPage(request.raw)) return reply.callNotFound();
      return toCockpit(request, reply);
    },
  });
  app.route<{ Params: { "*": string } }>({
    method,
    url: "/ui/*",
    schema,
    handler: async (request, reply) => send(request.raw, reply, folder, request.params["*"]),
  });
}

/** C1. A name without a path in it. */
const ASSET = /^assets\/(?<name>[\w-]+(?:\.[\w-]+)*\.(?<type>\w+))$/;
const AT_TOP = /^(?<name>[\w-]+\.(?<type>svg))$/;

async function send(req: IncomingMessage, reply: FastifyReply, folder: string, path: string): Promise<FastifyReply> {
  const asset = ASSET.exec(path) ?? AT_TOP.exec(path);
  if (asset === null) {
    if (path.startsWith("assets/")) throw new RequestError(404, "the cockpit has no such file");
    return sendPage(req, reply, folder);
  }
  const type = TYPES[asset.groups?.["type"] ?? ""];
  const found = type === undefined ? null : await readEncoded(req, folder, path);
  if (type === undefined || found === null)
    throw new RequestError(404, "the cockpit has no such file: after an update, load the page again");
  const caching = path.startsWith("assets/") ? KEPT_FOR_GOOD : "public, max-age=3600";
  return answer(reply, found, { "content-type": type, "cache-control": caching });
}

async function sendPage(req: IncomingMessage, reply: FastifyReply, folder: string): Promise<FastifyReply> {
  const page = await readEncoded(req, folder, "index.html");
  if (page === null)
    throw new RequestError(
      404,
      "the cockpit is not built: run `npm run build` in the checkout, or install the package",
    );
  return answer(reply, page, { "content-type": TYPES["html"] ?? "", "cache-control": "no-cache" });
}

interface Encoded {
  readonly bytes: Buffer;
  readonly encoding: string | null;
}

function answer(reply: FastifyReply, { bytes, encoding }: Encoded, headers: Record<string, string>): FastifyReply {
  reply.headers({ ...HEADERS, ...headers, "content-length": bytes.byteLength });
  if (encoding !== null) reply.header("content-encoding", encoding);
  return reply.serializer((payload: unknown) => payload as string).send(bytes);
}

/** The smallest form that the asker takes; null: there is no such file. */
async function readEncoded(req: IncomingMessage, folder: string, path: string): Promise<Encoded | null> {
  const accepted = String(req.headers["accept-encoding"] ?? "");
  for (const [name, end] of [
    ["br", ".br"],
    ["gzip", ".gz"],
  ] as const) {
    if (!takes(accepted, name)) continue;
    const bytes = await readOrNull(`${folder}${path}${end}`);
    if (bytes !== null) return { bytes, encoding: name };
  }
  const bytes = await readOrNull(`${folder}${path}`);
  return bytes === null ? null : { bytes, encoding: null };
}

function takes(accepted: string, encoding: string): boolean {
  return accepted.split(",").some((item) => {
    const [name, ...params] = item.split(";").map((part) => part.trim().toLowerCase());
    return name === encoding && !params.some((param) => /^q=0(?:\.0*)?$/.test(param));
  });
}

async function readOrNull(path: string): Promise<Buffer | null> {
  try {
    return await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
