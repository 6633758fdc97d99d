// Overwrites with zeros what the outer allocator of an instance has free, so that an image holds no garbage: freed text would
// stay in it, and be paid for, until something else happens to lie there.
//
// The engine's allocator is wasi-libc's dlmalloc. Its heap is a row of chunks without gaps, each with a head of 8 bytes
// (the size of a free chunk before it; the own size with flags in the lowest bits), so it can be walked from any chunk. A
// free chunk keeps its links in the 24 bytes after its head. The row is checked to its very end before anything is
// written: where it is not as described, nothing is done.

const HEAD_BYTES = 8;
const LINK_BYTES = 24;
const FLAGS = 7;
const IN_USE = 2;
const CHUNK_BYTES_MIN = 16;

/**
 * @param first address of the first thing that was ever allocated.
 * @returns how many bytes were free, or undefined where the heap is not as described.
 */
export function scrubFreeChunks(memory: Uint8Array, first: number): number | undefined {
  const view = new DataView(memory.buffer, memory.byteOffset, memory.byteLength);
  const free: number[] = [];
  let chunk = first - HEAD_BYTES;
  while (chunk < memory.length) {
    if (chunk + HEAD_BYTES > memory.length) return undefined;
    const head = view.getUint32(chunk + 4, true);
    const size = head - (head & FLAGS);
    if (size < CHUNK_BYTES_MIN || chunk + size > memory.length) return undefined;
    // The last chunk is the allocator's own mark.
    if ((head & IN_USE) === 0 && chunk + size < memory.length) free.push(chunk, size);
    chunk += size;
  }
  let bytes = 0;
  for (let at = 0; at < free.length; at += 2) {
    const from = (free[at] as number) + HEAD_BYTES + LINK_BYTES;
    const to = (free[at] as number) + (free[at + 1] as number);
    if (to > from) memory.fill(0, from, to);
    bytes += Math.max(0, to - from);
  }
  return bytes;
}
