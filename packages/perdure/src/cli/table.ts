// Tables: two spaces between columns, a header, no lines. On a terminal the widest flexible column gives way; in a pipe
// nothing is cut, so that what is read by programs does not depend on a window.

import type { Paint } from "./style.ts";
import { cut, padEnd, padStart, printable, widthOf } from "./text.ts";

export interface Column {
  readonly title: string;
  readonly align?: "right";
  /** May be cut to fit the terminal, down to this many columns. */
  readonly shrinksTo?: number;
}

interface Cell {
  readonly text: string;
  /** Applied after padding and cutting. */
  readonly paint?: (text: string) => string;
}

export type Row = readonly (Cell | string)[];

export interface TableOptions {
  readonly paint: Paint;
  /** Columns of the terminal; absent: as wide as it needs. */
  readonly width?: number | undefined;
}

const GAP = "  ";

export function formatTable(columns: readonly Column[], rows: readonly Row[], options: TableOptions): string {
  const cells = rows.map((row) =>
    row.map((cell) => (typeof cell === "string" ? { text: printable(cell) } : { ...cell, text: printable(cell.text) })),
  );
  const widths = columns.map((column, at) =>
    Math.max(widthOf(column.title), ...cells.map((row) => widthOf(row[at]?.text ?? ""))),
  );
  if (options.width !== undefined) shrink(columns, widths, options.width);
  const line = (row: readonly Cell[]): string =>
    columns
      .map((column, at) => {
        const cell = row[at] ?? { text: "" };
        const width = widths[at] ?? 0;
        const text = cut(cell.text, width);
        const last = at === columns.length - 1;
        const padded = column.align === "right" ? padStart(text, width) : last ? text : padEnd(text, width);
        return cell.paint === undefined ? padded : cell.paint(padded);
      })
      .join(GAP)
      .trimEnd();
  const header = line(columns.map((column) => ({ text: column.title, paint: (text) => options.paint("dim", text) })));
  return [header, ...cells.map(line)].map((text) => `${text}\n`).join("");
}

/** Takes what is too much from the flexible columns, always from the widest one. */
function shrink(columns: readonly Column[], widths: number[], available: number): void {
  let excess = widths.reduce((sum, width) => sum + width, GAP.length * (columns.length - 1)) - available;
  while (excess > 0) {
    let widest = -1;
    for (const [at, column] of columns.entries()) {
      const width = widths[at] ?? 0;
      if (column.shrinksTo !== undefined && width > column.shrinksTo && width > (widths[widest] ?? 0)) widest = at;
    }
    if (widest < 0) return;
    widths[widest] = (widths[widest] ?? 0) - 1;
    excess -= 1;
  }
}
