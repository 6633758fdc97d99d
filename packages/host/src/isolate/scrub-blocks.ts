// Overwrites with zeros the small blocks that an instance's engine has free, and puts them back in order.
//
// QuickJS takes blocks of up to 512 bytes from arenas of 4 KiB, one size in each:
//
//   runtime    … | 31 lists of all arenas | 31 lists of arenas with free blocks | …          a list: previous, next
//   arena      free list: previous, next | list: previous, next | size u8, used u16, blocks u16, first free u16 | blocks
//   block      own index, or of the next free one: u16 | size u8 | type u8 | references i32 | what the block holds
//
// A freed block keeps what it held: text of the run, pointers, counters. Zeros cost nothing in an image. In the order of
// their addresses, blocks are taken alike by all runs of a base, so that what the runs hold alike lies alike. All lists are
// checked before anything is written: where one is not as described, nothing is done.

/** Measured from the runtime's address: after five functions and the counters of the allocator. */
const LISTS_AT = 40;
const SIZES: readonly number[] = [
  ...Array.from({ length: 15 }, (_, index) => 16 + 8 * index),
  ...Array.from({ length: 8 }, (_, index) => 144 + 16 * index),
  ...Array.from({ length: 8 }, (_, index) => 288 + 32 * index),
];
const LIST_BYTES = 8;
const ARENA_BYTES = 4_096;
const ARENA_HEAD_BYTES = 24;
const LINK_AT = 8;
const SIZE_AT = 16;
const USED_AT = 18;
const BLOCKS_AT = 20;
const FIRST_AT = 22;
const NONE = 0xffff;
const BLOCK_HEAD_BYTES = 3;

interface Arena {
  readonly at: number;
  readonly blockBytes: number;
  /** Indexes of the free blocks, ascending. */
  readonly free: readonly number[];
}

/** @returns how many blocks were free; undefined: the arenas are not as described. */
export function scrubFreeBlocks(memory: Uint8Array, runtime: number): number | undefined {
  const view = new DataView(memory.buffer, memory.byteOffset, memory.byteLength);
  const arenas: Arena[] = [];
  for (const [size, blockBytes] of SIZES.entries()) {
    const found = arenasOf(view, runtime + LISTS_AT + size * LIST_BYTES, size, blockBytes);
    if (found === undefined) return undefined;
    arenas.push(...found);
  }
  let blocks = 0;
  for (const arena of arenas) {
    writeFree(memory, view, arena);
    blocks += arena.free.length;
  }
  return blocks;
}

/** Walks one list of arenas; undefined: it is no such list. */
function arenasOf(view: DataView, head: number, size: number, blockBytes: number): readonly Arena[] | undefined {
  const arenas: Arena[] = [];
  const arenasMax = view.byteLength / ARENA_BYTES;
  const blocks = Math.floor((ARENA_BYTES - ARENA_HEAD_BYTES) / blockBytes);
  let previous = head;
  for (let link = view.getUint32(head + 4, true); link !== head; link = view.getUint32(link + 4, true)) {
    const at = link - LINK_AT;
    if (at % 8 !== 0 || at < 0 || at + ARENA_HEAD_BYTES + blocks * blockBytes > view.byteLength) return undefined;
    if (arenas.length >= arenasMax || view.getUint32(link, true) !== previous) return undefined;
    if (view.getUint8(at + SIZE_AT) !== size || view.getUint16(at + BLOCKS_AT, true) !== blocks) return undefined;
    const free = freeOf(view, at, blocks, blockBytes);
    if (free === undefined) return undefined;
    arenas.push({ at, blockBytes, free });
    previous = link;
  }
  return view.getUint32(head, true) === previous ? arenas : undefined;
}

function freeOf(view: DataView, arena: number, blocks: number, blockBytes: number): readonly number[] | undefined {
  const count = blocks - view.getUint16(arena + USED_AT, true);
  const free: number[] = [];
  let index = view.getUint16(arena + FIRST_AT, true);
  while (index !== NONE) {
    if (index >= blocks || free.length >= count) return undefined;
    free.push(index);
    index = view.getUint16(arena + ARENA_HEAD_BYTES + index * blockBytes, true);
  }
  if (free.length !== count) return undefined;
  free.sort((a, b) => a - b);
  return free.some((one, at) => one === free[at - 1]) ? undefined : free;
}

function writeFree(memory: Uint8Array, view: DataView, { at, blockBytes, free }: Arena): void {
  view.setUint16(at + FIRST_AT, free[0] ?? NONE, true);
  for (const [order, index] of free.entries()) {
    const block = at + ARENA_HEAD_BYTES + index * blockBytes;
    view.setUint16(block, free[order + 1] ?? NONE, true);
    memory.fill(0, block + BLOCK_HEAD_BYTES, block + blockBytes);
  }
}
