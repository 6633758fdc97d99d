// What code that is built on the SDK (agents) needs of a context beyond what users need: not part of `Context`, so that no
// user comes to rely on it.

import type { QueueListing } from "@perdure/protocol";
import { ContextMisuseError } from "@perdure/protocol";
import type { Context } from "./context/context.ts";
import type { SdkPorts } from "./ports.ts";

export interface ContextInternals {
  readonly ports: SdkPorts;
  /** What queues for the key behind this run, for the same handler. Journaled. */
  getQueue(): Promise<QueueListing>;
  /**
   * The handler's code uses ticks of Node (web streams do): from now on it has run as far as it can only when those have run
   * as well, or commands that follow a tick would come at another place of a replay.
   */
  useTicks(): void;
}

/** @throws ContextMisuseError where `ctx` is not what a handler was given. */
export function internalsOf(ctx: Context): ContextInternals {
  const { internals } = ctx as Context & { readonly internals?: ContextInternals };
  if (internals === undefined)
    throw new ContextMisuseError("this is not a context that a handler was given: pass ctx itself, not a copy of it");
  return internals;
}
