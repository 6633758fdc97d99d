// Shapes of the admin API for moments, forks and rewinds.

import type { ActionAnswer, InstantText, JsonValue } from "./api.ts";
import type { RunId } from "./ids.ts";

/** An entry at which the run has an image: a place that it can be resumed, forked or rewound to at once. */
export interface MomentView {
  readonly entry: number;
  readonly hash: string;
  readonly base: string;
  readonly size: number;
  readonly at: InstantText;
  readonly name: string | null;
}

export interface MomentsAnswer {
  /** Oldest first. */
  readonly moments: readonly MomentView[];
}

export interface ForkBody {
  /** The last entry that is shared; absent: all there are. */
  readonly at?: number;
  readonly key?: string;
  readonly input?: JsonValue;
  readonly note?: JsonValue;
}

export interface RewindAnswer extends ActionAnswer {
  /** What the run was before, as a run of its own that has ended. */
  readonly branch: RunId;
}
