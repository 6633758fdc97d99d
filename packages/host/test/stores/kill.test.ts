// Real processes: kill -9 at any moment, and one owner per data directory.

import { StoreLockedError } from "@perdure/protocol";
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openSqliteStore } from "../../src/stores/sqlite/open.ts";
import { lastBatch } from "../../src/stores/sqlite/testing/scratch.ts";

const SCRIPT = fileURLToPath(new URL("./writer-process.ts", import.meta.url));

let directory = "";
beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), "perdure-kill-"))));
afterEach(() => rmSync(directory, { recursive: true }));

class Child {
  readonly #process: ChildProcessByStdio<null, Readable, Readable>;
  readonly #ended: Promise<void>;
  #lines: string[] = [];
  #rest = "";
  #errors = "";

  constructor(mode: "write" | "hold") {
    this.#process = spawn(process.execPath, ["--conditions=perdure-source", SCRIPT, directory, mode], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#ended = new Promise((resolve) => this.#process.on("close", () => resolve()));
    this.#process.stderr.on("data", (chunk: Buffer) => (this.#errors += String(chunk)));
    this.#process.stdout.on("data", (chunk: Buffer) => {
      const lines = (this.#rest + String(chunk)).split("\n");
      this.#rest = lines.pop() ?? "";
      this.#lines.push(...lines);
    });
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  /** Waits for a number of lines. */
  async said(count: number): Promise<void> {
    while (this.#lines.length < count) {
      if (this.#process.exitCode !== null) throw new Error(`the writer ended: ${this.#errors}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  /** kill -9; the last batch that it said was committed. */
  async kill(): Promise<number> {
    this.#process.kill("SIGKILL");
    await this.#ended;
    return Number(this.#lines.filter((line) => /^\d+$/.test(line)).at(-1) ?? 0);
  }
}

describe("kill -9", () => {
  test("T1, E1: every commit that was fulfilled is there, whole, whenever the process dies", async () => {
    let known = 0;
    for (let round = 0; round < 8; round += 1) {
      const child = new Child("write");
      await child.said(2 + round * 7);
      await new Promise((resolve) => setTimeout(resolve, (round * 13) % 29));
      known = Math.max(known, await child.kill());
      const store = await openSqliteStore({ directory, payloadInlineMax: 4_000 });
      const found = await lastBatch(store);
      expect(found).toBeGreaterThanOrEqual(known);
      expect(found).toBeLessThanOrEqual(known + 1);
      const state = await store.reader.state({ service: "count", key: "k" });
      expect(state.get("padding")?.length).toBe(((found * 977) % 9_000) + 2);
      await store.close();
      known = found;
    }
    expect(known).toBeGreaterThan(50);
  });

  test("P0040: a second process is refused while the first lives, and not a moment longer", async () => {
    const child = new Child("hold");
    await child.said(1);
    const opening = openSqliteStore({ directory });
    await expect(opening).rejects.toBeInstanceOf(StoreLockedError);
    await expect(opening).rejects.toThrow(`process ${child.pid} `);
    await expect(opening).rejects.toThrow(directory);
    const beside = await openSqliteStore({ directory, readOnly: true });
    expect(await lastBatch(beside)).toBe(0);
    await beside.close();
    await child.kill();
    await (await openSqliteStore({ directory })).close();
  });
});
