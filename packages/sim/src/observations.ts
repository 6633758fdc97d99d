// What can be seen of the world from outside: the only thing that checkers know.

import type { Commit, Question, Reply, StreamPage } from "@perdure/engine";
import type {
  AttemptStart,
  Awaiting,
  CapturedImage,
  Entry,
  ImageInfo,
  Instant,
  Payload,
  Result,
  Run,
  RunId,
  StreamRef,
} from "@perdure/protocol";

export interface StoredRun {
  readonly run: Run;
  readonly entries: readonly Entry[];
  readonly images: readonly ImageInfo[];
}

/** How an attempt ended. `crash`: its host died. */
export type AttemptEnd = "end" | "suspend" | "error" | "imageUnusable" | "abort" | "crash";

export type Observation =
  /** A host took the partition. */
  | { readonly type: "acquired"; readonly tick: number; readonly host: number; readonly epoch: number }
  /** A commit was applied. `now`: the latest instant that the host can have seen when it decided. */
  | {
      readonly type: "committed";
      readonly tick: number;
      readonly host: number;
      readonly now: Instant;
      readonly commit: Commit;
    }
  | {
      readonly type: "started";
      readonly tick: number;
      readonly host: number;
      readonly epoch: number;
      readonly attempt: number;
      readonly start: AttemptStart;
    }
  /** Entries were handed to a live attempt. */
  | { readonly type: "told"; readonly attempt: number; readonly entries: readonly Entry[] }
  | {
      readonly type: "over";
      readonly tick: number;
      readonly attempt: number;
      readonly how: AttemptEnd;
      readonly entriesSeen?: number;
      readonly awaiting?: readonly Awaiting[];
    }
  /** A live attempt was captured. */
  | { readonly type: "imaged"; readonly attempt: number; readonly image: CapturedImage }
  /** The closure of step `command` began. */
  | { readonly type: "executed"; readonly tick: number; readonly attempt: number; readonly command: number }
  /** The code of an attempt saw how a command ended. */
  | { readonly type: "observed"; readonly attempt: number; readonly command: number; readonly result: Result }
  /** What an attempt said that may end in a stream: the items of an append, the result of a step. */
  | {
      readonly type: "said";
      readonly attempt: number;
      readonly command: number;
      readonly payloads: readonly Payload[];
    }
  /** A step of an attempt wrote into a stream. */
  | {
      readonly type: "wrote";
      readonly attempt: number;
      readonly stream: string;
      readonly items: readonly Payload[];
      readonly writer: string;
    }
  /** A request of step `command` arrived at a model's provider. `attempt`: null where no attempt of the run is live there. */
  | {
      readonly type: "asked-model";
      readonly attempt: number | null;
      readonly run: RunId;
      readonly generation: number;
      readonly command: number;
      /** All that the request says on behalf of users. */
      readonly heard: string;
    }
  /** The provider delivered an answer in full, and counts it. `attempt`: the one that had asked. */
  | {
      readonly type: "paid-model";
      readonly attempt: number | null;
      readonly run: RunId;
      readonly generation: number;
      readonly command: number;
    }
  /** The effect of an agent's tool began. `key`: the idempotency key, where it is a step. */
  | {
      readonly type: "began-tool";
      readonly attempt: number | null;
      readonly run: RunId;
      readonly tool: string;
      readonly key: string | null;
      readonly input: { readonly id: string; readonly amount: number };
    }
  /** On replay the code asked for something else than what is recorded. */
  | { readonly type: "mismatch"; readonly attempt: number; readonly text: string }
  /** A promise was rejected, and nobody heard of it. */
  | { readonly type: "uncaught"; readonly text: string }
  /** Somebody asks; the answer may never come. */
  | { readonly type: "asked"; readonly question: Question }
  | { readonly type: "replied"; readonly tick: number; readonly question: Question; readonly reply: Reply }
  /** All that the storage holds. */
  | {
      readonly type: "stored";
      readonly runs: readonly StoredRun[];
      readonly states: readonly StoredState[];
      readonly streams: readonly { readonly stream: StreamRef; readonly page: StreamPage }[];
    }
  /** The faults are over, and the world is looked at from time to time. */
  | { readonly type: "pulse"; readonly tick: number }
  /** The world is at rest, or will not get there (`why`). */
  | { readonly type: "settled"; readonly figures: Readonly<Record<string, number>>; readonly why: string | null };

export interface StoredState {
  readonly service: string;
  readonly key: string;
  readonly state: ReadonlyMap<string, Payload>;
}

/** A promise of the engine (E1 to E10), or the agreement between engine and executors (C2). */
export interface Violation {
  readonly promise: string;
  readonly text: string;
}

export type Report = (promise: string, text: string) => void;

/** Short names for runs, in the order in which they are first spoken of. */
export class Names {
  readonly #names: Map<RunId, string> = new Map();

  of(id: RunId): string {
    let name = this.#names.get(id);
    if (name === undefined) this.#names.set(id, (name = `r${this.#names.size + 1}`));
    return name;
  }
}
