// The ledger: what was really done, written down outside of Perdure
// ==================================================================
// Every effect adds a line when it has been executed, whatever becomes of the process then. The journal promises that an
// effect whose result it holds is not executed again; the ledger lets you check: `npm run ledger`.
//
// An effect that was executed and killed before its result could be journaled stands here twice, under one idempotency
// key. That is the most that anybody can promise, and what the key is for: whoever is paid can see that it is the same.

import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";

import { readSettings } from "./settings.ts";

export interface LedgerLine {
  readonly at: string;
  readonly pid: number;
  /** "model", "search", … */
  readonly kind: string;
  readonly name: string;
  readonly idempotencyKey: string;
  readonly attempt: number;
  readonly tokens?: number;
}

/** Appended in one write: lines of several processes do not mix, and `kill -9` does not cut one in half. */
export function writeLine(file: string, line: LedgerLine): void {
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, `${JSON.stringify(line)}\n`);
}

/** A last line that a power failure cut short is left out. */
export function readLedger(file: string): readonly LedgerLine[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .split("\n")
    .flatMap((text) => parseLine(text) ?? []);
}

function parseLine(text: string): LedgerLine | undefined {
  try {
    return JSON.parse(text) as LedgerLine;
  } catch {
    return undefined; // Empty, or cut short.
  }
}

export interface Summary {
  readonly effects: number;
  readonly processes: number;
  readonly tokens: number;
  readonly byKind: Readonly<Record<string, number>>;
  /** Effects that were executed more than once. */
  readonly repeated: readonly { readonly name: string; readonly idempotencyKey: string; readonly times: number }[];
}

export function summarise(lines: readonly LedgerLine[]): Summary {
  const byKey = Map.groupBy(lines, ({ idempotencyKey }) => idempotencyKey);
  const byKind = Map.groupBy(lines, ({ kind }) => kind);
  return {
    effects: lines.length,
    processes: new Set(lines.map(({ pid }) => pid)).size,
    tokens: lines.reduce((sum, { tokens = 0 }) => sum + tokens, 0),
    byKind: Object.fromEntries([...byKind].map(([kind, some]) => [kind, some.length])),
    repeated: [...byKey].flatMap(([idempotencyKey, some]) =>
      some.length === 1 ? [] : [{ name: some[0]?.name ?? "", idempotencyKey, times: some.length }],
    ),
  };
}

export function describe({ effects, processes, tokens, byKind, repeated }: Summary): string {
  const kinds = Object.entries(byKind).map(([kind, count]) => `${count} ${kind}`);
  const again = repeated.map(({ name, idempotencyKey, times }) => `  ${times} times: ${name} (${idempotencyKey})`);
  return [
    `${effects} effects executed by ${processes} process${processes === 1 ? "" : "es"}: ${kinds.join(", ") || "none"}`,
    ...(tokens === 0 ? [] : [`${tokens} tokens paid`]),
    repeated.length === 0
      ? "nothing was done twice"
      : `${repeated.length} executed again, because the process died before the result was journaled:`,
    ...again,
  ].join("\n");
}

if (import.meta.main) {
  const { ledger } = readSettings(process.env);
  const summary = summarise(readLedger(ledger));
  console.log(process.argv.includes("--json") ? JSON.stringify(summary) : `${ledger}\n${describe(summary)}`);
}
