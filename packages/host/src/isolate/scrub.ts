// Overwrites with zeros everything of a waiting machine that is not alive, so that an image holds no garbage: freed text
// would stay in it, and be paid for, until something else happens to lie there. The dead stack is in no image.

import type { Machine } from "./machine.ts";
import { scrubFreeBlocks } from "./scrub-blocks.ts";
import { scrubFreeChunks } from "./scrub-chunks.ts";

export function scrub({ memory, exports }: Machine): void {
  const runtime = exports.qjs_get_runtime_ptr();
  scrubFreeChunks(memory, runtime); // The runtime is the first thing that an instance allocates.
  scrubFreeBlocks(memory, runtime);
}
