// What an agent's tool sources offer in a turn
// ============================================
// A list of tools may be long, and is the same in most turns. So it is stored by what it says:
//
//   the journal of a turn   the hash of the list, as the source gave it at the beginning of the turn
//   `tools/<source>`        a stream of the session's: the list itself, once for each time that it changed
//   the session             the hash and the place of the list that was used last
//
// A turn whose hash is the known one reads the list from its place (the journal keeps the place, not the items); another
// asks for the list in a step whose result goes into the stream. In the session's state the list would be copied into the
// journal of every turn that reads it.
//
// O1. A turn has the same tools on every replay: those of its own steps, whatever the source says by then.
// O2. A source that cannot be asked leaves the turn with the list that is known. Where none is, the turn waits for it, or goes
//     on without its tools where the source is optional.

import { sha256 } from "@perdure/protocol";
import { CancelledError, isPerdureError, StepFailedError, type ObjectContext, type RetryOptions } from "@perdure/sdk";
import { canonicalJson } from "../audit/canonical-json.ts";
import type { Toolset } from "../tools/tool.ts";
import type { Offer, OfferedTool, ToolSource } from "../tools/tool-source.ts";

/** Where the list stands that was used last: by the source's name. */
export type KnownOffers = Readonly<Record<string, KnownOffer>>;

interface KnownOffer {
  readonly hash: string;
  /** Offset in the source's stream. */
  readonly at: number;
}

export interface Offers {
  readonly tools: Toolset;
  readonly known: KnownOffers;
}

const FEW_TRIES: RetryOptions = { initial: "500ms", maxAttempts: 3, onExhausted: "throw" };
const UNTIL_IT_ANSWERS: RetryOptions = { initial: "1s", factor: 2, max: "1m" };

/** Asks all of them, side by side. */
export async function askSources(
  ctx: ObjectContext,
  sources: readonly ToolSource[],
  known: KnownOffers,
): Promise<Offers> {
  const asked = await Promise.all(sources.map((source) => ask(ctx, source, known[source.source])));
  const found: Record<string, KnownOffer> = { ...known };
  const tools: Record<string, Toolset[string]> = {};
  for (const [index, answer] of asked.entries()) {
    const source = sources[index];
    if (source === undefined || answer === undefined) continue;
    found[source.source] = answer.known;
    Object.assign(tools, source.toolset(answer.offer));
  }
  return { tools, known: found };
}

interface Answer {
  readonly offer: Offer;
  readonly known: KnownOffer;
}

async function ask(ctx: ObjectContext, source: ToolSource, known: KnownOffer | undefined): Promise<Answer | undefined> {
  const hash = await hashOf(ctx, source, known);
  if (hash === undefined) return undefined;
  return hash === known?.hash ? await recall(ctx, source, known) : await store(ctx, source, hash);
}

/** What it offers now, by its hash; that of the known list where it cannot be asked; undefined: go on without it. */
async function hashOf(
  ctx: ObjectContext,
  source: ToolSource,
  known: KnownOffer | undefined,
): Promise<string | undefined> {
  const mayFail = known !== undefined || source.optional;
  const retry = mayFail ? FEW_TRIES : UNTIL_IT_ANSWERS;
  try {
    return await ctx.step(`tools ${source.source}`, async ({ signal }) => (await offer(source, signal)).hash, {
      retry,
    });
  } catch (error) {
    if (!mayFail || error instanceof CancelledError || !isPerdureError(error) || error.retry === "pause") throw error;
    const { message } = error instanceof StepFailedError && error.cause instanceof Error ? error.cause : error;
    ctx.log.warn(`the tools of "${source.source}" cannot be asked for: ${message}`, { source: source.source });
    return known?.hash;
  }
}

async function recall(ctx: ObjectContext, source: ToolSource, known: KnownOffer): Promise<Answer> {
  const [stored] = await ctx.stream<Offer>(streamOf(source)).read(known.at);
  // A turn that was killed may have stored a newer list, trimmed this one, and told nobody.
  return stored?.hash === known.hash ? { offer: stored, known } : await store(ctx, source, known.hash);
}

async function store(ctx: ObjectContext, source: ToolSource, hash: string): Promise<Answer> {
  const stream = ctx.stream<Offer>(streamOf(source));
  const stored = await ctx.step(
    `new tools ${source.source}`,
    async ({ signal }) => RECENT.get(source)?.get(hash) ?? (await offer(source, signal)),
    { into: streamOf(source), retry: UNTIL_IT_ANSWERS },
  );
  const at = (await stream.length()) - 1; // Nobody else writes there while this run has the key.
  if (at > 0) stream.trim(at);
  return { offer: stored, known: { hash: stored.hash, at } };
}

function streamOf({ source }: ToolSource): string {
  return `tools/${source}`;
}

/** The list that a process was given last, so that it need not ask again a moment later to store it. */
const RECENT: WeakMap<ToolSource, Map<string, Offer>> = new WeakMap();

async function offer(source: ToolSource, signal: AbortSignal): Promise<Offer> {
  const tools = sorted(await source.offered({ signal }));
  const made: Offer = { hash: sha256(canonicalJson(tools)), tools };
  RECENT.set(source, new Map([[made.hash, made]]));
  return made;
}

/** Servers give the same list in one order or another; providers cache prompts by their beginning, where the tools stand. */
function sorted(tools: readonly OfferedTool[]): readonly OfferedTool[] {
  return tools.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}
