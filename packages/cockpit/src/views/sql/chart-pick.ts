// What of an answer can be drawn, and how, before anybody says
// =============================================================
// P1. Heights are numbers: a column that has none of them cannot be one.
// P2. What is asked for is drawn where it can be; else what is picked here.

import type { JsonValue, SqlAnswer } from "@perdure/protocol";

export type ChartKind = "line" | "bars" | "points";

export interface ChartPick {
  readonly kind: ChartKind;
  readonly x: number;
  readonly y: number;
}

export interface Asked {
  readonly kind?: ChartKind | undefined;
  readonly x?: string | undefined;
  readonly y?: string | undefined;
}

export type ColumnKind = "time" | "number" | "text" | "empty";

/** More bars than that are a block. */
const BARS_MAX = 60;
const SAMPLE = 500;

export function columnKinds({ columns, rows }: Pick<SqlAnswer, "columns" | "rows">): readonly ColumnKind[] {
  const sample = rows.slice(0, SAMPLE);
  return columns.map((name, at) =>
    kindOf(
      name,
      sample.map((row) => row[at] ?? null),
    ),
  );
}

/** Null: nothing of it can be drawn. */
export function pickChart(answer: Pick<SqlAnswer, "columns" | "rows">, asked: Asked = {}): ChartPick | null {
  const { columns, rows } = answer;
  const kinds = columnKinds(answer);
  const heights = kinds.flatMap((kind, at) => (kind === "number" || kind === "time" ? [at] : []));
  if (rows.length === 0 || heights.length === 0) return null;
  const namedX = columns.indexOf(asked.x ?? "");
  const namedY = columns.indexOf(asked.y ?? "");
  const last = heights.findLast((at) => kinds[at] === "number" && at !== namedX) ?? heights.at(-1) ?? 0;
  const y = heights.includes(namedY) ? namedY : last;
  const x = namedX >= 0 ? namedX : pickX(answer, kinds, y);
  return { kind: asked.kind ?? pickKind(kinds[x] ?? "text", rows.length), x, y };
}

/** A time, before a name, before another number. Of several names that which tells most rows apart. */
function pickX({ rows }: Pick<SqlAnswer, "rows">, kinds: readonly ColumnKind[], y: number): number {
  const of = (kind: ColumnKind): readonly number[] =>
    kinds.flatMap((one, at) => (one === kind && at !== y ? [at] : []));
  const sample = rows.slice(0, SAMPLE);
  const distinct = (at: number): number => new Set(sample.map((row) => row[at])).size;
  const names = of("text").toSorted((a, b) => distinct(b) - distinct(a));
  return of("time")[0] ?? names[0] ?? of("number")[0] ?? y;
}

function pickKind(x: ColumnKind, rows: number): ChartKind {
  if (x === "time") return "line";
  if (x === "number") return "points";
  return rows > BARS_MAX ? "points" : "bars";
}

function kindOf(name: string, cells: readonly JsonValue[]): ColumnKind {
  const given = cells.filter((cell) => cell !== null);
  if (given.length === 0) return "empty";
  if (given.every((cell) => typeof cell === "number"))
    return given.every((cell) => isInstant(name, cell)) ? "time" : "number";
  return given.every((cell) => typeof cell === "string" && isTimeText(cell)) ? "time" : "text";
}

const FIRST_MS = Date.UTC(2000, 0, 1);
const LAST_MS = Date.UTC(2100, 0, 1);

/** Milliseconds since the epoch, in a column that is called so: any large number could be one. */
function isInstant(name: string, value: number): boolean {
  return /(?:^|_)(?:at|time|since|until|day|hour|minute|ms)$|time/i.test(name) && value > FIRST_MS && value < LAST_MS;
}

function isTimeText(text: string): boolean {
  return /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/.test(text);
}

export interface Points {
  /** Seconds since the epoch, numbers, or the places of `names`. */
  readonly xs: readonly number[];
  readonly ys: readonly (number | null)[];
  readonly scale: "time" | "number" | "names";
  readonly names: readonly string[];
}

/** What is drawn, from left to right. */
export function pointsOf({ columns, rows }: Pick<SqlAnswer, "columns" | "rows">, { x, y }: ChartPick): Points {
  const kind = columnKinds({ columns, rows })[x] ?? "text";
  const ys = rows.map((row) => heightOf(row[y] ?? null));
  if (kind === "text" || kind === "empty") {
    const names = rows.map((row) => nameOf(row[x] ?? null));
    return { xs: names.map((_, at) => at), ys, scale: "names", names };
  }
  const placed = rows
    .map((row, at) => ({ x: placeOf(row[x] ?? null, kind), y: ys[at] ?? null }))
    .filter((point): point is { x: number; y: number | null } => point.x !== null)
    .toSorted((a, b) => a.x - b.x);
  return { xs: placed.map((point) => point.x), ys: placed.map((point) => point.y), scale: kind, names: [] };
}

function placeOf(cell: JsonValue, kind: "time" | "number"): number | null {
  if (kind === "number") return typeof cell === "number" ? cell : null;
  if (typeof cell === "number") return cell / 1_000;
  // SQLite's own times say no zone, and are in UTC.
  if (typeof cell !== "string") return null;
  const text = cell.replace(" ", "T");
  const at = Date.parse(/T.*(?:Z|[+-]\d\d:?\d\d)$|^\d{4}-\d\d-\d\d$/.test(text) ? text : `${text}Z`);
  return Number.isNaN(at) ? null : at / 1_000;
}

function heightOf(cell: JsonValue): number | null {
  return typeof cell === "number" ? cell : null;
}

function nameOf(cell: JsonValue): string {
  if (cell === null) return "∅";
  return typeof cell === "string" ? cell : JSON.stringify(cell);
}
