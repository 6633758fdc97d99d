// What is built, measured: how much a first visit loads, and that the page needs nothing that its policy forbids.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { build } from "vite";

const FIRST_LOAD_BYTES_MAX = 250_000;
const root = dirname(dirname(fileURLToPath(import.meta.url)));

interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly dynamicImports?: readonly string[];
  readonly css?: readonly string[];
  readonly src?: string;
}

let folder: string;
let manifest: Readonly<Record<string, Chunk>>;
let html: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "perdure-cockpit-build-"));
  vi.stubEnv("NODE_ENV", "production"); // As it is shipped: React brings less then.
  await build({ root, logLevel: "error", build: { outDir: folder, emptyOutDir: true, manifest: true } });
  manifest = JSON.parse(readFileSync(join(folder, ".vite", "manifest.json"), "utf8")) as typeof manifest;
  html = readFileSync(join(folder, "index.html"), "utf8");
}, 240_000);

afterAll(() => vi.unstubAllEnvs());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** All files that a chunk needs before it can run. */
function filesOf(name: string, seen = new Set<string>()): ReadonlySet<string> {
  const chunk = manifest[name];
  if (chunk === undefined || seen.has(chunk.file)) return seen;
  for (const file of [chunk.file, ...(chunk.css ?? [])]) seen.add(file);
  for (const one of chunk.imports ?? []) filesOf(one, seen);
  return seen;
}

const sizeOf = (file: string): number => gzipSync(readFileSync(join(folder, file))).byteLength;

describe("the built cockpit", () => {
  test("every view is loaded with the frame around it in less than 250 KB, compressed", () => {
    const views = Object.entries(manifest).filter(([, { src }]) => src?.startsWith("src/views/") === true);
    expect(views.map(([name]) => name)).toContain("src/views/overview/overview.tsx");
    for (const [view] of views) {
      const files = new Set([...filesOf("index.html"), ...filesOf(view)]);
      const bytes = [...files].reduce((sum, file) => sum + sizeOf(file), 0);
      expect(bytes, `${view}: ${[...files].join(", ")}`).toBeLessThan(FIRST_LOAD_BYTES_MAX);
    }
  });

  test("views, charts, documents and the palette are chunks of their own", () => {
    const first = filesOf("index.html");
    for (const part of [
      "views/overview/overview",
      "views/runs/runs",
      "views/run/run-page",
      "views/agents/agents",
      "views/session/session-page",
      "views/approvals/approvals",
      "ui/chart",
      "ui/markdown",
      "app/palette",
    ]) {
      const file = manifest[`src/${part}.tsx`]?.file;
      expect(file, part).toBeDefined();
      expect(first.has(file ?? ""), part).toBe(false);
    }
  });

  test("the page has no inline script, style or address of elsewhere", () => {
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=/);
    for (const [, attributes = "", content = ""] of html.matchAll(/<script([^>]*)>([^<]*)/g)) {
      expect(attributes).toContain('src="/ui/assets/');
      expect(content.trim()).toBe("");
    }
    for (const [, address = ""] of html.matchAll(/\s(?:src|href)="([^"]*)"/g)) expect(address).toMatch(/^\/ui\//);
  });

  test("nothing is loaded from elsewhere by the styles either", () => {
    const styles = readdirSync(join(folder, "assets")).filter((name) => name.endsWith(".css"));
    expect(styles.length).toBeGreaterThan(0);
    for (const name of styles)
      expect(readFileSync(join(folder, "assets", name), "utf8"), name).not.toMatch(/url\((?!["']?\/ui\/)|@import/);
  });
});
