// What a session's model calls have used, summed over its transcript
// ==================================================================
// U1. A transcript only grows, so what was summed once is kept, and only what came since is read.
// U2. At most so many sessions are kept; the ones that nobody asked for longest are summed anew when they are asked for.

import { TRANSCRIPT, type TranscriptItem, type Usage } from "@perdure/agents";
import type { AgentUsageView, Instant } from "@perdure/protocol";
import { itemsFrom, transcriptItem, type AgentSession } from "./agent-runs.ts";
import type { ServedRuntime } from "./context.ts";

interface Summed {
  /** The first offset that is not in it. */
  readonly next: number;
  /** Of the last item. */
  readonly lastAt: Instant | null;
  readonly usage: AgentUsageView;
}

const KEPT_MAX = 2_000;
const EMPTY: Summed = {
  next: 0,
  lastAt: null,
  usage: { inputTokens: 0, outputTokens: 0, calls: 0, usd: 0, unpriced: 0 },
};

export class SessionUsage {
  readonly #runtime: ServedRuntime;
  readonly #kept = new Map<string, Summed>();

  constructor(runtime: ServedRuntime) {
    this.#runtime = runtime;
  }

  async of(owner: AgentSession): Promise<Summed> {
    const name = `${owner.service}/${owner.key}`;
    const { end } = await this.#runtime.readStream({ owner, name: TRANSCRIPT }, Number.MAX_SAFE_INTEGER, 1);
    const kept = this.#kept.get(name);
    // A session that was begun anew under its old name is shorter than what is known of it.
    let sum = kept === undefined || kept.next > end ? EMPTY : kept;
    for await (const item of itemsFrom(this.#runtime, owner, TRANSCRIPT, sum.next))
      sum = { next: item.offset + 1, lastAt: item.at, usage: plus(sum.usage, usageIn(transcriptItem(item))) };
    this.#keep(name, sum);
    return sum;
  }

  #keep(name: string, sum: Summed): void {
    this.#kept.delete(name);
    this.#kept.set(name, sum);
    const oldest = this.#kept.size > KEPT_MAX ? this.#kept.keys().next() : undefined;
    if (oldest?.done === false) this.#kept.delete(oldest.value);
  }
}

function usageIn(item: TranscriptItem): Usage | undefined {
  return item.type === "assistant" || item.type === "compaction" ? item.usage : undefined;
}

function plus(sum: AgentUsageView, used: Usage | undefined): AgentUsageView {
  if (used === undefined) return sum;
  return {
    inputTokens: sum.inputTokens + used.inputTokens,
    outputTokens: sum.outputTokens + used.outputTokens,
    calls: sum.calls + used.calls,
    usd: sum.usd + (used.usd ?? 0),
    unpriced: sum.unpriced + (used.usd === null ? used.calls : 0),
  };
}
