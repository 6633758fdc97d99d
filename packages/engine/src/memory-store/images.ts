// The memory store's images: what runs have, and the bytes of each hash once.

import { type ImageInfo, type Run, sha256, type StartImage } from "@perdure/protocol";
import type { LoadedStart } from "../store.ts";
import { copy } from "./copy.ts";
import type { StorageData } from "./storage.ts";

/** The bytes of a hash, and how many images have it. */
export interface StoredBytes {
  readonly bytes: Uint8Array;
  refs: number;
}

/** In order of their entries. */
export function imagesOf(data: StorageData, run: number): readonly ImageInfo[] {
  return copy(data.runs.get(run)?.images ?? []);
}

/** T7: the newest image whose bytes are what their hash says, and those that were passed over. */
export function newestWhole(data: StorageData, run: Run): Pick<LoadedStart, "image" | "damaged"> {
  const damaged: { entry: number; reason: string }[] = [];
  const stored = data.runs.get(run.seq);
  for (const info of [...(stored?.images ?? [])].reverse()) {
    if (info.entry > (stored?.entries.length ?? 0)) continue;
    const bytes = data.imageBytes.get(info.hash)?.bytes;
    if (bytes !== undefined && sha256(bytes) === info.hash) {
      const image: StartImage = { info: copy(info), bytes: new Uint8Array(bytes) };
      return { image, damaged };
    }
    const reason = bytes === undefined ? "its bytes are missing" : `its bytes are not those of its hash ${info.hash}`;
    damaged.push({ entry: info.entry, reason });
  }
  return { image: null, damaged };
}
