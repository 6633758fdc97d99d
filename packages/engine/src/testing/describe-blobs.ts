// The contract of the blob store port, as tests: B1 to B3 of blobs.ts.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type BlobHash, type BlobStore, isBlobHash } from "../blobs.ts";

export interface OpenedBlobs {
  readonly blobs: BlobStore;
  reopen(): Promise<BlobStore>;
  dispose(): Promise<void>;
}

export interface BlobsContract {
  /** An empty blob store of its own for each call. */
  open(): Promise<OpenedBlobs>;
}

/** SHA-256 of nothing. */
const EMPTY_HASH = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/** Declares the tests that every blob store passes. */
export function describeBlobs(name: string, contract: BlobsContract): void {
  const blobTest = (title: string, body: (opened: OpenedBlobs) => Promise<void>): void =>
    test(title, async () => {
      const opened = await contract.open();
      try {
        await body(opened);
      } finally {
        await opened.dispose();
      }
    });

  describe(`blobs contract: ${name}`, () => {
    blobTest("B1, B2: what was put is there, also after opening again", async ({ blobs, reopen }) => {
      const hash = await blobs.put(new Uint8Array([1, 2, 3]));
      expect(isBlobHash(hash)).toBe(true);
      expect(new Uint8Array((await blobs.get(hash)) ?? [])).toEqual(new Uint8Array([1, 2, 3]));
      expect(new Uint8Array((await (await reopen()).get(hash)) ?? [])).toEqual(new Uint8Array([1, 2, 3]));
    });

    blobTest("the hash is the SHA-256 of the bytes", async ({ blobs }) => {
      expect(await blobs.put(new Uint8Array(0))).toBe(EMPTY_HASH);
      expect((await blobs.get(EMPTY_HASH))?.byteLength).toBe(0);
    });

    blobTest("a blob that was never put, or was deleted, is null", async ({ blobs }) => {
      expect(await blobs.get(EMPTY_HASH)).toBeNull();
      await blobs.delete(EMPTY_HASH);
      const hash = await blobs.put(new Uint8Array([7]));
      await blobs.delete(hash);
      expect(await blobs.get(hash)).toBeNull();
    });

    blobTest("equal bytes are one blob, also when put at the same time", async ({ blobs }) => {
      const hashes = await Promise.all(Array.from({ length: 8 }, () => blobs.put(new Uint8Array(50_000).fill(9))));
      expect(new Set(hashes).size).toBe(1);
      expect(await listed(blobs)).toEqual([hashes[0]]);
    });

    blobTest("the list has every blob, and nothing else", async ({ blobs }) => {
      const hashes: BlobHash[] = [];
      for (let i = 0; i < 20; i += 1) hashes.push(await blobs.put(new Uint8Array([i])));
      await blobs.delete(hashes[4] ?? "");
      expect(await listed(blobs)).toEqual(hashes.filter((_, i) => i !== 4).toSorted());
    });

    blobTest("B2: any bytes come back", async ({ blobs }) => {
      const property = fc.asyncProperty(fc.uint8Array({ maxLength: 3_000 }), async (bytes) => {
        expect(new Uint8Array((await blobs.get(await blobs.put(bytes))) ?? [])).toEqual(bytes);
      });
      await fc.assert(property, { numRuns: 30 });
    });
  });
}

async function listed(blobs: BlobStore): Promise<readonly BlobHash[]> {
  const hashes: BlobHash[] = [];
  for await (const hash of blobs.list()) hashes.push(hash);
  return hashes.toSorted();
}
