// A server in this process whose definitions live in isolates.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Servable } from "@perdure/sdk";
import { onTestFinished } from "vitest";
import { serve, type ServeOptions, type Serving } from "../../src/serve.ts";

export async function snapshotServer(
  definitions: readonly Servable[],
  fixture: string,
  options: Partial<ServeOptions> = {},
): Promise<Serving> {
  const data = options.data ?? scratchFolder();
  const serving = await serve({
    definitions,
    sources: [new URL(`./fixtures/${fixture}`, import.meta.url)],
    data,
    ingress: { port: 0 },
    admin: { port: 0 },
    ...options,
  });
  onTestFinished(() => serving.close(0));
  return serving;
}

export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "perdure-snapshots-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
