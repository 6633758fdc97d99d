// What is in an image, for people: how much of it is new, where that lies, and what lives in the heap.
//
// Pages need the base alone. The heap is counted by the engine itself, in an instance that is made for it and thrown away: so
// only where it is the engine that made the image.

import type { HeapSummary, ImageInspection, PageCounts } from "@perdure/protocol";
import { loadEngine } from "./engine.ts";
import { applyImage, type BaseImage, decodeBase, readImageHeader, sha256, WASM_PAGE_BYTES } from "./image-codec.ts";
import { Instance } from "./instance.ts";
import { MachinePool } from "./machine-pool.ts";
import { changedPages, isZeroPage, PAGE_BYTES, viewOf } from "./spans.ts";

/** As long as counting may take; nothing of the run's code is run. */
const LIMITS = { turnMs: 5_000, memoryBytes: 512 * 1_024 * 1_024 };

/** @throws ImageDamagedError where the bytes are no image */
export async function inspectImage(image: Uint8Array, baseBytes: Uint8Array): Promise<ImageInspection> {
  const header = readImageHeader(image);
  const base: BaseImage = decodeBase(baseBytes);
  const memory = new Uint8Array(header.memoryPages * WASM_PAGE_BYTES);
  memory.set(base.memory.subarray(0, memory.length));
  applyImage(image, header, base, memory);
  const engine = await loadEngine();
  const isOurs = engine.hash === header.engine;
  return {
    hash: sha256(image),
    bytes: image.length,
    engine: header.engine,
    isOurEngine: isOurs,
    base: header.base,
    bundle: base.bundle,
    memoryBytes: memory.length,
    changedBytes: header.changedWords * Uint32Array.BYTES_PER_ELEMENT,
    pages: countPages(memory, base, header.stackPointer),
    heap: isOurs ? heapOf(new MachinePool(engine), base, image) : null,
  };
}

/** Of the changed pages: those that the base has something in, those that are new, and those that hold nothing any more. */
function countPages(memory: Uint8Array, base: BaseImage, stackPointer: number): PageCounts {
  const [now, before] = [viewOf(memory), viewOf(base.memory)];
  const counts = { code: 0, heap: 0, free: 0 };
  const changed = changedPages(memory, base.memory, stackPointer);
  for (const page of changed) {
    const at = page * PAGE_BYTES;
    if (isZeroPage(now, at)) counts.free += 1;
    else if (at < before.length && !isZeroPage(before, at)) counts.code += 1;
    else counts.heap += 1;
  }
  return { pageBytes: PAGE_BYTES, total: memory.length / PAGE_BYTES, changed: changed.length, ...counts };
}

function heapOf(pool: MachinePool, base: BaseImage, image: Uint8Array): HeapSummary {
  const instance = Instance.restore(pool, base, image, LIMITS);
  try {
    const fields = instance.memoryUsage;
    const of = (count: number, bytes: number): HeapSummary["objects"] => ({
      count: fields[count] ?? 0,
      bytes: fields[bytes] ?? 0,
    });
    return {
      allocatedBytes: fields[26] ?? 0,
      atoms: of(5, 6),
      strings: of(7, 8),
      objects: of(9, 10),
      properties: of(11, 12),
      shapes: of(13, 14),
      functions: of(15, 16),
      arrays: { count: fields[21] ?? 0, elements: fields[23] ?? 0 },
      buffers: of(24, 25),
    };
  } finally {
    instance.dispose();
  }
}
