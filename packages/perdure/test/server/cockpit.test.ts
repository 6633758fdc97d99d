// The cockpit's files, by their promises (C1 to C4 in src/server/cockpit.ts), with a small build in the real one's stead.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, errorOf, exchange, openWorld, rawAsk, type World } from "./world.ts";

const PAGE = "<!doctype html><title>the page</title>";
const SCRIPT = "export const answer = 42;";
const ASSET = "/ui/assets/index-AbC_1-2.js";

let world: World;
let folder: string;

beforeAll(async () => {
  folder = join(mkdtempSync(join(tmpdir(), "perdure-cockpit-")), "cockpit/");
  mkdirSync(join(folder, "assets"), { recursive: true });
  writeFileSync(join(folder, "..", "secret.js"), "secret");
  for (const [name, text] of [
    ["index.html", PAGE],
    ["assets/index-AbC_1-2.js", SCRIPT],
    ["icon.svg", "<svg/>"],
    [".made-from", "a hash"],
  ] as const) {
    writeFileSync(join(folder, name), text);
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(text));
    writeFileSync(join(folder, `${name}.gz`), gzipSync(text));
  }
  world = await openWorld({ cockpitFolder: folder });
});

afterAll(async () => {
  await world.close();
  rmSync(join(folder, ".."), { recursive: true });
});

/** A client that does not tidy a path up before it asks. */
function unchanged(path: string): Promise<string> {
  return exchange(world.admin, `GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`);
}

const browser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

describe("pages", () => {
  it("C2: are the same page at every address under /ui/, asked for anew each time", async () => {
    for (const path of ["/ui/", "/ui/runs", "/ui/runs/run_1x?entry=3", "/ui/state/a%2Fb/c.d"]) {
      const answer = await rawAsk(`${world.admin}${path}`);
      expect([answer.status, answer.text], path).toEqual([200, PAGE]);
      expect(answer.headers["cache-control"]).toBe("no-cache");
      expect(answer.headers["content-type"]).toBe("text/html; charset=utf-8");
    }
  });

  it("browsers are led there from /, programs are not", async () => {
    const led = await rawAsk(`${world.admin}/`, { headers: browser });
    expect([led.status, led.headers["location"]]).toEqual([302, "/ui/"]);
    expect((await rawAsk(`${world.admin}/ui`)).headers["location"]).toBe("/ui/");
    for (const accept of ["*/*", "application/json, text/html"])
      expect(errorOf(await ask(`${world.admin}/`, { headers: { accept } }))).toMatchObject({ status: 404 });
    expect((await rawAsk(`${world.admin}/runs`, { headers: browser })).headers["content-type"]).toContain("json");
  });

  it("C3: run and load what comes from here, and nothing else", async () => {
    for (const path of ["/ui/", ASSET]) {
      const { headers } = await rawAsk(`${world.admin}${path}`);
      const policy = String(headers["content-security-policy"]).split("; ");
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toContain("require-trusted-types-for 'script'");
      expect(String(headers["content-security-policy"])).not.toMatch(/unsafe|\*|https?:/);
      expect(headers["x-content-type-options"]).toBe("nosniff");
      expect(headers["referrer-policy"]).toBe("no-referrer");
    }
  });

  it("say what to do where the cockpit is not built", async () => {
    const bare = await openWorld({ cockpitFolder: join(folder, "nowhere/") });
    const answer = errorOf(await ask(`${bare.admin}/ui/`));
    expect(answer).toMatchObject({ status: 404 });
    expect(answer.message).toContain("npm run build");
    await bare.close();
  });
});

describe("assets", () => {
  it("C2: are kept for good, since their names change with what they hold", async () => {
    const { status, text, headers } = await rawAsk(`${world.admin}${ASSET}`);
    expect([status, text]).toEqual([200, SCRIPT]);
    expect(headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    expect(headers["content-type"]).toBe("text/javascript; charset=utf-8");
    expect((await rawAsk(`${world.admin}/ui/icon.svg`)).headers["content-type"]).toBe("image/svg+xml");
  });

  it("come as small as the asker takes them", async () => {
    const take = async (accepted: string): Promise<readonly [string | undefined, string]> => {
      const response = await fetch(`${world.admin}${ASSET}`, { headers: { "accept-encoding": accepted } });
      return [response.headers.get("content-encoding") ?? undefined, await response.text()];
    };
    expect(await take("gzip, deflate, br")).toEqual(["br", SCRIPT]);
    expect(await take("gzip;q=0.5, br;q=0")).toEqual(["gzip", SCRIPT]);
    expect(await take("identity")).toEqual([undefined, SCRIPT]);
    expect(brotliDecompressSync(brotliCompressSync(SCRIPT)).equals(gunzipSync(gzipSync(SCRIPT)))).toBe(true);
  });

  it("C1: nothing beside them can be reached", async () => {
    for (const path of [
      "/ui/assets/../../secret.js",
      "/ui/assets/..%2F..%2Fsecret.js",
      "/ui/assets/%2e%2e/%2e%2e/secret.js",
      "/ui/assets/..%5C..%5Csecret.js",
      "/ui/assets/index-AbC_1-2.js%00.svg",
      "/ui/assets/nothing.js",
      "/ui/assets/",
      "/ui/assets/index-AbC_1-2.js.br",
    ]) {
      const answer = await unchanged(path);
      expect([path, answer.slice(0, 12)], answer).toEqual([path, "HTTP/1.1 404"]);
    }
    for (const path of ["/ui/.made-from", "/ui/../secret.js", "/ui/..%2fsecret.js", "/ui/index.html.gz"])
      expect(await unchanged(path), path).toMatch(PAGE);
  });

  it("are read only", async () => {
    expect((await rawAsk(`${world.admin}${ASSET}`, { method: "HEAD" })).status).toBe(200);
    expect((await rawAsk(`${world.admin}/ui/`, { method: "POST" })).status).toBe(405);
  });
});

describe("a token", () => {
  let locked: World;
  beforeAll(async () => {
    locked = await openWorld({ cockpitFolder: folder, token: "s3cret" });
  });
  afterAll(() => locked.close());

  it("C4: is not asked for by files that are everybody's, and is by everything else", async () => {
    for (const path of ["/ui/", "/ui", "/ui/runs/x", ASSET])
      expect((await rawAsk(`${locked.admin}${path}`)).status, path).toBeLessThan(400);
    expect((await rawAsk(`${locked.admin}/`, { headers: browser })).status).toBe(302);
    for (const path of ["/runs", "/version", "/uix", "/ui.json", "//ui/", "/UI/", "/events", "/openapi.json"])
      expect((await rawAsk(`${locked.admin}${path}`)).status, path).toBe(401);
    expect((await rawAsk(`${locked.admin}/ui/`, { method: "POST" })).status).toBe(401);
  });

  it("C4: the ingress has no such files: what is called so there is a handler", async () => {
    expect((await rawAsk(`${locked.ingress}/ui/runs`)).status).toBe(401);
    expect((await rawAsk(`${locked.ingress}/`)).status).toBe(401);
  });
});
