import { StoreDamagedError } from "@perdure/protocol";
import { mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openDirectoryBlobs } from "./directory.ts";

let directory = "";
beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), "perdure-blobs-"))));
afterEach(() => rmSync(directory, { recursive: true }));

describe("blobs in a directory", () => {
  test("B2: damaged bytes are never handed out, and the blob is named", async () => {
    const blobs = await openDirectoryBlobs({ directory });
    const bytes = new Uint8Array(1_000).fill(3);
    const hash = await blobs.put(bytes);
    const file = join(directory, hash.slice(0, 2), hash.slice(2));
    writeFileSync(file, new Uint8Array(1_000).fill(4));
    await expect(blobs.get(hash)).rejects.toBeInstanceOf(StoreDamagedError);
    await expect(blobs.get(hash)).rejects.toThrow(hash);
    truncateSync(file, 10);
    expect(await blobs.put(bytes)).toBe(hash);
    expect((await blobs.get(hash))?.byteLength).toBe(1_000);
  });

  test("B3: what a crash left of a put is removed at the next opening, and was never a blob", async () => {
    writeFileSync(join(directory, ".tmp-0011"), "half");
    const names = async (readOnly: boolean): Promise<number> => {
      const blobs = await openDirectoryBlobs({ directory, readOnly });
      let count = 0;
      for await (const _ of blobs.list()) count += 1;
      return count;
    };
    expect(await names(true)).toBe(0);
    expect(readdirSync(directory)).toEqual([".tmp-0011"]);
    expect(await names(false)).toBe(0);
    expect(readdirSync(directory)).toEqual([]);
  });

  test("read-only blobs can be read, and nothing else", async () => {
    const hash = await (await openDirectoryBlobs({ directory })).put(new Uint8Array([1]));
    const blobs = await openDirectoryBlobs({ directory, readOnly: true });
    expect(await blobs.get(hash)).not.toBeNull();
    await expect(blobs.put(new Uint8Array([2]))).rejects.toThrow("read-only");
    await expect(blobs.delete(hash)).rejects.toThrow("read-only");
  });
});
