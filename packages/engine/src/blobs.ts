// The blob store port: content-addressed bytes
// ============================================
// Large payloads, images and file chunks live here; stores keep their hashes. A blob never changes, so that putting the
// same bytes twice is one blob, and a reader needs no lock.
//
// B1. When `put` is fulfilled the blob is durable: a hash that a commit names afterwards can be read after any crash.
// B2. `get` gives exactly the bytes of that hash, or rejects with StoreDamagedError naming the blob. Never other bytes.
// B3. After a crash in the middle of `put` the blob is whole or not there.

declare const blobHashBrand: unique symbol;

/** SHA-256 of the bytes, 64 lower-case hexadecimal digits. */
export type BlobHash = string & { readonly [blobHashBrand]?: true };

export function isBlobHash(text: string): text is BlobHash {
  return /^[0-9a-f]{64}$/.test(text);
}

export interface BlobStore {
  put(bytes: Uint8Array): Promise<BlobHash>;
  /** `null`: there is no such blob. @throws StoreDamagedError where it is not what its name says. */
  get(hash: BlobHash): Promise<Uint8Array | null>;
  /** Nothing happens where it is not there. */
  delete(hash: BlobHash): Promise<void>;
  /** All blobs, in no order; ones that are put or deleted meanwhile may be missing or there. */
  list(): AsyncIterable<BlobHash>;
}
