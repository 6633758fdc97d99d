// What is in an image of a run, as people are shown it.

import type { WaitView } from "./api.ts";
import type { RunId } from "./ids.ts";

/** Pages of memory that differ from the base. */
export interface PageCounts {
  readonly pageBytes: number;
  /** Of the whole memory. */
  readonly total: number;
  readonly changed: number;
  /** Changed ones that the base has something in: the loaded code, and what belongs to it. */
  readonly code: number;
  /** Changed ones that only the run has something in. */
  readonly heap: number;
  /** Changed ones that hold nothing any more. */
  readonly free: number;
}

interface CountAndBytes {
  readonly count: number;
  readonly bytes: number;
}

/** What lives in the heap, the loaded code included, as the engine counts it. */
export interface HeapSummary {
  readonly allocatedBytes: number;
  readonly atoms: CountAndBytes;
  readonly strings: CountAndBytes;
  readonly objects: CountAndBytes;
  readonly properties: CountAndBytes;
  readonly shapes: CountAndBytes;
  readonly functions: CountAndBytes;
  readonly arrays: { readonly count: number; readonly elements: number };
  readonly buffers: CountAndBytes;
}

export interface ImageInspection {
  readonly hash: string;
  /** As stored. */
  readonly bytes: number;
  /** The JavaScript engine that made it. */
  readonly engine: string;
  /** It is the one of this Perdure: others cannot be resumed here. */
  readonly isOurEngine: boolean;
  readonly base: string;
  readonly bundle: string;
  readonly memoryBytes: number;
  /** Words that differ from the base. */
  readonly changedBytes: number;
  readonly pages: PageCounts;
  /** Null where another engine made it. */
  readonly heap: HeapSummary | null;
}

export interface ImageInspectionAnswer extends ImageInspection {
  readonly runId: RunId;
  readonly entry: number;
  readonly name: string | null;
  readonly at: string;
  /** Entries that stand after it: whoever goes on from it meets these. */
  readonly entriesAfter: number;
  /** What the run waits for now. */
  readonly waits: readonly WaitView[];
}
