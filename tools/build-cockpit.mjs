// Builds the cockpit, and puts it where the server takes it from
// =============================================================
// packages/cockpit/dist is what Vite makes; packages/perdure/dist/cockpit is the same with every text also as .br and .gz,
// so that the server compresses nothing.
//
// K1. What is there was made from the present sources: a stamp of their hash is written last, and nothing is built where it
//     agrees.
// K2. A server that reads while this writes finds every file that an index.html names: files first, index.html last, and
//     what an earlier index.html named goes only after that.

import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
const COCKPIT = join(ROOT, "packages", "cockpit");
const SERVED = join(ROOT, "packages", "perdure", "dist", "cockpit");
const STAMP = ".made-from";
/** What the outcome depends on. The protocol's sources are part of the bundle. */
const SOURCES = [
  "package-lock.json",
  "tools/build-cockpit.mjs",
  "packages/cockpit/index.html",
  "packages/cockpit/vite.config.ts",
  "packages/cockpit/public",
  "packages/cockpit/src",
  "packages/protocol/src",
];
const TEXT = /\.(?:html|js|css|svg|json|txt)$/;
const COMPRESSED_BYTES_MIN = 512;

function filesIn(path) {
  const whole = join(ROOT, path);
  const entries = readdirSync(whole, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
}

function sourceHash() {
  const hash = createHash("sha256");
  const paths = SOURCES.flatMap((path) => (/\.\w+$/.test(path) ? [path] : filesIn(path)));
  for (const path of paths.filter((path) => !/\.test\.tsx?$/.test(path)).toSorted()) {
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(ROOT, path)))
      .update("\0");
  }
  return hash.digest("hex");
}

const br = promisify(brotliCompress);
const gz = promisify(gzip);

/** Beside each text, what it is compressed. */
async function compress(folder) {
  const names = readdirSync(folder, { recursive: true }).filter((name) => TEXT.test(name));
  const files = names.map((name) => ({ path: join(folder, name), bytes: readFileSync(join(folder, name)) }));
  await Promise.all(
    files
      .filter(({ bytes }) => bytes.length >= COMPRESSED_BYTES_MIN)
      .map(async ({ path, bytes }) => {
        const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
        writeFileSync(`${path}.br`, await br(bytes, { params }));
        writeFileSync(`${path}.gz`, await gz(bytes, { level: 9 }));
      }),
  );
}

function publish(from) {
  mkdirSync(join(SERVED, "assets"), { recursive: true });
  const isPage = (path) => relative(from, path).startsWith("index.html");
  cpSync(from, SERVED, { recursive: true, filter: (path) => !isPage(path) });
  const pages = readdirSync(from).filter((name) => name.startsWith("index.html"));
  for (const name of pages.toSorted()) {
    cpSync(join(from, name), join(SERVED, `.${name}`));
    renameSync(join(SERVED, `.${name}`), join(SERVED, name));
  }
  const current = new Set(readdirSync(join(from, "assets")));
  for (const name of readdirSync(join(SERVED, "assets"))) {
    if (!current.has(name)) rmSync(join(SERVED, "assets", name));
  }
}

/** @returns whether anything was to do. */
async function buildCockpit() {
  const hash = sourceHash();
  const stamp = join(SERVED, STAMP);
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === hash) return false;
  rmSync(stamp, { force: true });
  const { build } = await import("vite");
  await build({ root: COCKPIT, logLevel: "warn" });
  const made = join(COCKPIT, "dist");
  await compress(made);
  publish(made);
  writeFileSync(stamp, hash);
  return true;
}

process.env.NODE_ENV = "production"; // Whoever starts this: React brings less then.
const since = Date.now();
const didBuild = await buildCockpit();
if (didBuild) console.log(`perdure: built the cockpit in ${((Date.now() - since) / 1000).toFixed(1)} s`);
