// Blobs in a directory
// ====================
// `<directory>/ab/cdef…`: the file's path is the SHA-256 of its bytes, its first two digits a folder of their own, so
// that a million blobs are 256 folders of 4,000 files.
//
// B1. `put` writes a temporary file, flushes it, renames it and flushes the folder, before it is fulfilled.
// B2. `get` hashes what it read.
// B3. A crash leaves at most a temporary file, which the next opening removes.

import { StoreDamagedError, StoreWriteError } from "@perdure/protocol";
import { type BlobHash, type BlobStore, isBlobHash } from "@perdure/engine";
import { hash as digest, randomBytes } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

const SHARD_DIGITS = 2;
const TEMPORARY = ".tmp-";

export interface DirectoryBlobsOptions {
  readonly directory: string;
  /** Nothing is written, not even removed. */
  readonly readOnly?: boolean;
}

export async function openDirectoryBlobs(options: DirectoryBlobsOptions): Promise<BlobStore> {
  const blobs = new DirectoryBlobs(options);
  if (options.readOnly !== true) await blobs.prepare();
  return blobs;
}

class DirectoryBlobs implements BlobStore {
  readonly #directory: string;
  readonly #readOnly: boolean;

  constructor(options: DirectoryBlobsOptions) {
    this.#directory = options.directory;
    this.#readOnly = options.readOnly === true;
  }

  /** Makes the directory and removes what a crash left of blobs that were being written. */
  async prepare(): Promise<void> {
    await mkdir(this.#directory, { recursive: true });
    for (const name of await readdir(this.#directory)) {
      if (name.startsWith(TEMPORARY)) await rm(join(this.#directory, name), { force: true });
    }
  }

  async put(bytes: Uint8Array): Promise<BlobHash> {
    if (this.#readOnly) throw new StoreWriteError(`the blobs in ${this.#directory} are open read-only`);
    const name = digest("sha256", bytes, "hex");
    const path = this.#path(name);
    if (await isWhole(path, bytes.byteLength)) return name;
    const temporary = join(this.#directory, `${TEMPORARY}${randomBytes(8).toString("hex")}`);
    try {
      await this.#write(temporary, path, bytes);
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => undefined);
      throw new StoreWriteError(`cannot write the blob ${name} to ${this.#directory}: ${(error as Error).message}`, {
        cause: error,
      });
    }
    return name;
  }

  async #write(temporary: string, path: string, bytes: Uint8Array): Promise<void> {
    const file = await open(temporary, "wx");
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    const folder = dirname(path);
    const made = await mkdir(folder, { recursive: true });
    await rename(temporary, path);
    await syncFolder(folder);
    if (made !== undefined) await syncFolder(this.#directory);
  }

  async get(hash: BlobHash): Promise<Uint8Array | null> {
    let bytes: Uint8Array;
    try {
      bytes = await readFile(this.#path(hash));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
      throw new StoreDamagedError(
        `the blob ${hash} in ${this.#directory} cannot be read: ${(error as Error).message}`,
        { cause: error },
      );
    }
    const found = digest("sha256", bytes, "hex");
    if (found !== hash)
      throw new StoreDamagedError(
        `the blob ${hash} in ${this.#directory} is damaged: its ${bytes.byteLength} bytes hash to ${found}`,
      );
    return bytes;
  }

  async delete(hash: BlobHash): Promise<void> {
    if (this.#readOnly) throw new StoreWriteError(`the blobs in ${this.#directory} are open read-only`);
    await rm(this.#path(hash), { force: true });
  }

  async *list(): AsyncIterable<BlobHash> {
    for (const shard of await namesIn(this.#directory)) {
      if (!/^[0-9a-f]{2}$/.test(shard)) continue;
      for (const rest of await namesIn(join(this.#directory, shard))) {
        if (isBlobHash(shard + rest)) yield shard + rest;
      }
    }
  }

  #path(hash: BlobHash): string {
    return join(this.#directory, hash.slice(0, SHARD_DIGITS), hash.slice(SHARD_DIGITS));
  }
}

/** The blob is there already. One that is too short or too long is damaged, and written again. */
async function isWhole(path: string, size: number): Promise<boolean> {
  try {
    return (await stat(path)).size === size;
  } catch {
    return false;
  }
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
