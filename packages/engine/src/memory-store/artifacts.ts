// The memory store's artifacts. Nothing is collected: what outlives the process is nobody's.

import { sha256, StoreDamagedError } from "@perdure/protocol";
import type { Artifact, ArtifactInfo, ArtifactKind, Artifacts } from "../artifacts.ts";
import { copy } from "./copy.ts";
import { compareText } from "./order.ts";
import type { StorageData } from "./storage.ts";

export class MemoryArtifacts implements Artifacts {
  readonly #data: StorageData;

  constructor(data: StorageData) {
    this.#data = data;
  }

  async put(kind: ArtifactKind, bytes: Uint8Array, about: Readonly<Record<string, string>>): Promise<string> {
    const hash = sha256(bytes);
    if (!this.#data.artifacts.has(hash)) this.#data.artifacts.set(hash, copy({ kind, bytes, about }));
    return hash;
  }

  async get(hash: string): Promise<Artifact | null> {
    const found = this.#data.artifacts.get(hash);
    if (found === undefined) return null;
    if (sha256(found.bytes) !== hash)
      throw new StoreDamagedError(`the ${found.kind} ${hash} is damaged: its bytes are not those of its hash`);
    return copy(found);
  }

  async list(): Promise<readonly ArtifactInfo[]> {
    const all = [...this.#data.artifacts].sort(([a], [b]) => compareText(a, b));
    return all.map(([hash, { kind, bytes, about }]) => ({ hash, kind, about: copy(about), size: bytes.byteLength }));
  }
}
