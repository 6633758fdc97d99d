// What is asked of a model, and where it is answered
// ==================================================
//   a turn, durable() ──askModel──▶ the gateway of the process            (handlers in Node)
//                             └───▶ perdure#model ──▶ the same gateway    (handlers in isolates)
//
// An ask is plain data, so that it may cross the border of an isolate: keys and connections of providers stay in Node, and so
// does what all calls of a process share. The two ways are `ask-model.ts` and `ask-model.isolate.ts`.

import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { Lane } from "./fair-queue.ts";
import type { ModelRef } from "./resolver.ts";
import type { ModelTimeouts } from "./types.ts";

export interface ModelAsk {
  /** The first is asked, the others are fallen back on. */
  readonly models: readonly ModelRef[];
  readonly options: Omit<LanguageModelV4CallOptions, "abortSignal">;
  /** Whose call it is: keys take turns. */
  readonly key: string;
  readonly lane: Lane;
  readonly timeouts?: ModelTimeouts;
  /** Where watchers see what it says, as it says it. */
  readonly live?: LivePlace;
}

export interface LivePlace {
  /** Names the call in the stream. */
  readonly call: string;
  /** The name of the stream. */
  readonly stream: string;
  /** Else watchers see only that it goes on. */
  readonly showsParts: boolean;
}

export interface AskSignals {
  /** Ends the generation: the answer is what came so far, marked `partial`. */
  readonly interrupt?: AbortSignal;
  /** Ends the call, which rejects. So does the step's own signal. */
  readonly abort?: AbortSignal;
}

// What crosses the border
// -----------------------

/** The host's functions. */
export const ASK = "perdure#model";
export const PRICE = "perdure#price";

/** A model by its name, or by the name under which a host module exports it. */
export type WireModel = string | { readonly exported: string };

export type WireAsk = Omit<ModelAsk, "models"> & { readonly models: readonly WireModel[] };
