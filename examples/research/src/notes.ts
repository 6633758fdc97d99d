// A researcher's notes: which passages to read next, and what came of reading them.

import type { Hit } from "./corpus/library.ts";
import type { Passage } from "./corpus/passages.ts";
import type { Thought } from "./model/think.ts";
import type { FindingsAnswer } from "./model/tasks.ts";
import type { Notes, Source, Usage } from "./types.ts";

/** So many passages fit a prompt. */
const READ_MAX = 8;

export const NO_USAGE: Usage = { calls: 0, tokens: 0, models: [] };

export const emptyNotes = (topic: string): Notes => ({ topic, findings: [], read: [], usage: NO_USAGE });

/** The passages that several searches rank best together (by the sum of 1 / rank), without those that are known. */
export function unread(notes: Notes, searches: readonly (readonly Hit[])[]): readonly string[] {
  const scores = new Map<string, number>();
  for (const hits of searches) {
    hits.forEach(({ id }, at) => scores.set(id, (scores.get(id) ?? 0) + 1 / (at + 1)));
  }
  for (const { id } of notes.read) scores.delete(id);
  const best = [...scores].sort(([, a], [, b]) => b - a);
  return best.slice(0, READ_MAX).map(([id]) => id);
}

/** Adds what a model found in `passages`; claims that cite none of them are dropped. */
export function withFindings(notes: Notes, passages: readonly Passage[], thought: Thought<FindingsAnswer>): Notes {
  const claims = new Set(notes.findings.map(({ claim }) => claim));
  const found = thought.answer.findings.flatMap(({ claim, passages: numbers }) => {
    const ids = [...new Set(numbers.flatMap((number) => passages[number - 1]?.id ?? []))];
    if (ids.length === 0 || claims.has(claim)) return [];
    claims.add(claim);
    return [{ claim, passages: ids }];
  });
  return {
    ...notes,
    findings: [...notes.findings, ...found],
    read: [...notes.read, ...passages.map(sourceOf)],
    usage: sumUsage([notes.usage, usageOf(thought)]),
  };
}

const sourceOf = ({ id, path, line, heading }: Passage): Source => ({ id, path, line, heading });

export function usageOf({ tokens, model }: Thought<unknown>): Usage {
  return tokens === undefined ? { calls: 1, models: [model] } : { calls: 1, tokens, models: [model] };
}

/** Unknown plus something is unknown. */
export function sumUsage(usages: readonly Usage[]): Usage {
  const calls = usages.reduce((sum, usage) => sum + usage.calls, 0);
  const models = [...new Set(usages.flatMap((usage) => usage.models))];
  const tokens = usages.map((usage) => usage.tokens);
  const known = tokens.filter((count) => count !== undefined);
  return known.length < tokens.length
    ? { calls, models }
    : { calls, models, tokens: known.reduce((sum, count) => sum + count, 0) };
}
