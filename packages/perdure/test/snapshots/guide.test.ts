// The example of docs/guide/snapshots.md, as it stands there, served and stopped in the middle.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { serve, type Servable, type Serving } from "perdure";
import { createClient } from "perdure/client";
import { typeHere } from "../cli/typed-process.ts";
import { afterEach, beforeEach, expect, test } from "vitest";

const guide = readFileSync(new URL("../../../../docs/guide/snapshots.md", import.meta.url), "utf8");
let around: string;
let serving: Serving | undefined;

beforeEach(() => {
  around = mkdtempSync(join(tmpdir(), "perdure-guide-"));
  symlinkSync(fileURLToPath(new URL("../../../../node_modules", import.meta.url)), join(around, "node_modules"));
  const folder = join(around, "app");
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), `{ "name": "app", "type": "module" }`);
  for (const [, code = ""] of guide.matchAll(/^```ts\n(\/\/ [\w.]+\n.*?)^```$/gms))
    writeFileSync(join(folder, /[\w.]+$/m.exec(code.split("\n", 1)[0] ?? "")?.[0] ?? ""), code);
  writeFileSync(join(folder, "log.txt"), "error one\nfine\nerror two\nwarning\n");
});

afterEach(async () => {
  await serving?.close(0);
  rmSync(around, { recursive: true, force: true });
});

async function start(file = "watcher.ts"): Promise<Serving> {
  const source = pathToFileURL(join(around, "app", file));
  const module = (await import(source.href)) as Readonly<Record<string, Servable>>;
  serving = await serve({
    definitions: Object.values(module),
    sources: [source],
    data: join(around, "data"),
    ingress: { port: 0 },
    admin: { port: 0 },
    isolates: { threads: 0 },
    log: () => undefined,
  });
  return serving;
}

test("counts on after a restart, with what it had in its memory", async () => {
  const first = await start();
  expect(first.services.find(({ name }) => name === "watcher")?.memory).toBe("snapshot");
  const client = createClient({ url: first.ingressUrl, fetch });
  const { id } = await client.send("watcher", "w").follow(join(around, "app", "log.txt"));
  const run = client.run<Record<string, number>>(id);
  await run.signal("watch", "error");
  await expect.poll(() => journaled(first, id), { timeout: 20_000 }).toContain("read for error");
  await first.close(0);
  const second = await start();
  const again = createClient({ url: second.ingressUrl, fetch }).run<Record<string, number>>(id);
  await again.signal("watch", "warning");
  await again.signal("watch", "stop");
  expect(await again.result()).toEqual({ error: 2, warning: 1 });
});

test("has agents, whose models and connections stay in Node", async () => {
  const { services } = await start("agents.ts");
  expect(services.find(({ name }) => name === "helper")).toMatchObject({ agent: true, memory: "snapshot" });
});

test("is told apart by `perdure services`", async () => {
  const { adminUrl } = await start();
  const { code, out } = await typeHere(["services"], { PERDURE_ADMIN: adminUrl, NO_COLOR: "1" });
  expect(code).toBe(0);
  expect(out).toMatch(/^watcher\/<key>\/follow +object +exclusive snapshot$/m);
});

async function journaled({ adminUrl }: Serving, id: string): Promise<string> {
  return await (await fetch(`${adminUrl}/runs/${id}/journal`)).text();
}
