// What a model call used, where a journal tells of it: the result of an agent's step carries `usage`.

import type { EntryView, JsonValue, ResultView } from "@perdure/protocol";

export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** 0 where the price is not known. */
  readonly usd: number;
}

/** Null: the entry is no answer of a model. */
export function usageOf(entry: EntryView): ModelUsage | null {
  const result = entry.kind === "command" || entry.kind === "completion" ? entry.result : undefined;
  return usageInResult(result);
}

function usageInResult(result: ResultView | undefined): ModelUsage | null {
  if (result?.kind !== "value") return null;
  const value = Array.isArray(result.value) && result.value.length === 1 ? result.value[0] : result.value;
  const usage = field(value, "usage");
  const inputTokens = tokensOf(field(usage, "inputTokens"));
  const outputTokens = tokensOf(field(usage, "outputTokens"));
  if (inputTokens === null && outputTokens === null) return null;
  const usd = field(usage, "usd");
  return { inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0, usd: typeof usd === "number" ? usd : 0 };
}

/** It may be an answer of a model that is too long to be told with its entry: those of agents stand in a stream. */
export function mayHideUsage(entry: EntryView): boolean {
  if (entry.kind !== "command" && entry.kind !== "completion") return false;
  if (entry.kept === undefined || entry.result?.kind !== "value") return false;
  return typeof field(entry.result.value, "omitted") === "number";
}

export interface UsageSum {
  readonly calls: number;
  readonly tokens: number;
  readonly usd: number;
}

export function sumUsage(entries: readonly EntryView[]): UsageSum {
  let sum: UsageSum = { calls: 0, tokens: 0, usd: 0 };
  for (const entry of entries) {
    const used = usageOf(entry);
    if (used === null) continue;
    const { calls, tokens, usd } = sum;
    sum = { calls: calls + 1, tokens: tokens + used.inputTokens + used.outputTokens, usd: usd + used.usd };
  }
  return sum;
}

/** A number, or the provider interface's `{ total }`. */
function tokensOf(value: JsonValue | undefined): number | null {
  if (typeof value === "number") return value;
  const total = field(value, "total");
  return typeof total === "number" ? total : null;
}

function field(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return (value as Readonly<Record<string, JsonValue>>)[name];
}
