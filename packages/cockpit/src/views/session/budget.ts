// A budget as the server tells of it, read with care: what there is no limit of is left out.

import type { JsonValue } from "@perdure/protocol";

export type DimensionName = "tokens" | "usd" | "calls" | "wallMs";

export interface Dimension {
  readonly name: DimensionName;
  readonly spent: number;
  readonly reserved: number;
  readonly limit: number;
}

export interface Budget {
  readonly dimensions: readonly Dimension[];
  readonly waiting: number;
  readonly isAsking: boolean;
  readonly isDenied: boolean;
}

const NAMES: readonly DimensionName[] = ["tokens", "usd", "calls", "wallMs"];

export function budgetIn(status: JsonValue): Budget {
  const [limits, spent, reserved] = ["limits", "spent", "reserved"].map((name) => field(status, name));
  const dimensions = NAMES.flatMap((name): readonly Dimension[] => {
    const limit = field(limits, name);
    if (typeof limit !== "number") return [];
    return [{ name, limit, spent: numberOf(field(spent, name)), reserved: numberOf(field(reserved, name)) }];
  });
  return {
    dimensions,
    waiting: numberOf(field(status, "waiting")),
    isAsking: isSomething(field(status, "asked")),
    isDenied: isSomething(field(status, "denied")),
  };
}

function field(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return (value as Readonly<Record<string, JsonValue>>)[name];
}

function numberOf(value: JsonValue | undefined): number {
  return typeof value === "number" ? value : 0;
}

function isSomething(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null;
}
