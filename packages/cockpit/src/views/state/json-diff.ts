// What an edit changes, line by line, as both values are written out
// ===================================================================
// J1. The kept and the removed lines are the old text; the kept and the added ones the new one. A comma at the end of a line
//     says only whether something comes after it: a line that gains or loses one is kept.
// J2. Long stretches that stay are left out, but for some lines around what changes.

import type { JsonValue } from "@perdure/protocol";

export type DiffLine =
  | { readonly kind: "kept" | "removed" | "added"; readonly text: string }
  | { readonly kind: "gap"; readonly lines: number };

const AROUND = 3;
/** Above it the stretch that differs is shown as removed and added whole: comparing would take too long. */
const CELLS_MAX = 4_000_000;

export function diffValues(before: JsonValue | undefined, after: JsonValue | undefined): readonly DiffLine[] {
  return shortened(diffLines(linesOf(before), linesOf(after)));
}

function linesOf(value: JsonValue | undefined): readonly string[] {
  return value === undefined ? [] : JSON.stringify(value, null, 2).split("\n");
}

type Line = Extract<DiffLine, { text: string }>;

export function diffLines(before: readonly string[], after: readonly string[]): readonly Line[] {
  let start = 0;
  while (start < before.length && start < after.length && isSameLine(before[start], after[start])) start += 1;
  let end = 0;
  while (
    end < before.length - start &&
    end < after.length - start &&
    isSameLine(before[before.length - 1 - end], after[after.length - 1 - end])
  )
    end += 1;
  const middle = compare(before.slice(start, before.length - end), after.slice(start, after.length - end));
  return [
    ...after.slice(0, start).map((text): Line => ({ kind: "kept", text })),
    ...middle,
    ...after.slice(after.length - end).map((text): Line => ({ kind: "kept", text })),
  ];
}

/** By the longest common subsequence. */
function compare(before: readonly string[], after: readonly string[]): readonly Line[] {
  const removed = (text: string): Line => ({ kind: "removed", text });
  const added = (text: string): Line => ({ kind: "added", text });
  const width = after.length + 1;
  if (before.length * after.length > CELLS_MAX) return [...before.map(removed), ...after.map(added)];
  const common = new Uint32Array((before.length + 1) * width);
  const at = (row: number, column: number): number => common[row * width + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row -= 1)
    for (let column = after.length - 1; column >= 0; column -= 1)
      common[row * width + column] = isSameLine(before[row], after[column])
        ? at(row + 1, column + 1) + 1
        : Math.max(at(row + 1, column), at(row, column + 1));
  const lines: Line[] = [];
  let [row, column] = [0, 0];
  while (row < before.length || column < after.length) {
    const [left, right] = [before[row], after[column]];
    if (left !== undefined && right !== undefined && isSameLine(left, right)) {
      lines.push({ kind: "kept", text: right });
      row += 1;
      column += 1;
    } else if (left !== undefined && (right === undefined || at(row + 1, column) >= at(row, column + 1))) {
      lines.push(removed(left));
      row += 1;
    } else if (right !== undefined) {
      lines.push(added(right));
      column += 1;
    }
  }
  return lines;
}

/** J1. */
function isSameLine(a = "", b = ""): boolean {
  return a === b || a.replace(/,$/, "") === b.replace(/,$/, "");
}

/** J2. */
function shortened(lines: readonly Line[]): readonly DiffLine[] {
  const changed = lines.flatMap((line, at) => (line.kind === "kept" ? [] : [at]));
  const isNear = new Set(changed.flatMap((at) => Array.from({ length: AROUND * 2 + 1 }, (_, by) => at - AROUND + by)));
  const shown: DiffLine[] = [];
  let hidden = 0;
  const close = (): void => {
    if (hidden > 0) shown.push({ kind: "gap", lines: hidden });
    hidden = 0;
  };
  lines.forEach((line, at) => {
    if (isNear.has(at)) {
      close();
      shown.push(line);
    } else hidden += 1;
  });
  close();
  return shown;
}
