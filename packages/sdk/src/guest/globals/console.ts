// console: what a handler says goes where `ctx.log` goes.

import { guestHost, type GuestLogLevel } from "../host-port.ts";
import { format, inspect } from "./inspect.ts";

type Print = (...values: unknown[]) => void;

const counts = new Map<string, number>();
const starts = new Map<string, number>();
let indent = "";

declare const performance: { now(): number };

function say(level: GuestLogLevel, text: string): void {
  guestHost.log(level, indent === "" ? text : indent + text.replaceAll("\n", `\n${indent}`));
}

const printer =
  (level: GuestLogLevel): Print =>
  (...values) =>
    say(level, format(values));

function group(...labels: unknown[]): void {
  if (labels.length > 0) say("info", format(labels));
  indent += "  ";
}

function elapsed(label: string): string | undefined {
  const start = starts.get(label);
  if (start !== undefined) return `${label}: ${(performance.now() - start).toFixed(3)}ms`;
  say("warn", `no timer "${label}" was started: console.time("${label}") does that`);
  return undefined;
}

/** Rows under their columns, as text. */
function table(data: unknown): string {
  if (typeof data !== "object" || data === null) return inspect(data);
  const rows = data instanceof Map ? [...data] : Object.entries(data);
  const cells = rows.map(([, row]) =>
    typeof row === "object" && row !== null ? Object.entries(row) : ([["Values", row]] as [string, unknown][]),
  );
  const columns = [...new Set(cells.flatMap((row) => row.map(([name]) => name)))];
  const lines = [
    ["(index)", ...columns],
    ...rows.map(([index], at) => [
      String(index),
      ...columns.map((column) => {
        const cell = cells[at]?.find(([name]) => name === column);
        return cell === undefined ? "" : inspect(cell[1], { depth: 0 });
      }),
    ]),
  ];
  const widths = lines[0]?.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0))) ?? [];
  const written = lines.map((line) => `│ ${line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" │ ")} │`);
  const rule = (left: string, middle: string, right: string): string =>
    left + widths.map((width) => "─".repeat(width + 2)).join(middle) + right;
  return [rule("┌", "┬", "┐"), written[0], rule("├", "┼", "┤"), ...written.slice(1), rule("└", "┴", "┘")].join("\n");
}

export const console: Readonly<Record<string, (...values: never[]) => void>> = {
  debug: printer("debug"),
  log: printer("info"),
  info: printer("info"),
  dirxml: printer("info"),
  warn: printer("warn"),
  error: printer("error"),
  dir: (value: unknown) => say("info", inspect(value)),
  trace: (...values: unknown[]) => {
    const stack = String(new Error("trace").stack).split("\n").slice(1).join("\n").trimEnd();
    say("info", `Trace${values.length === 0 ? "" : `: ${format(values)}`}\n${stack}`);
  },
  assert: (condition: unknown, ...values: unknown[]) => {
    if (condition) return;
    const [first, ...rest] = values;
    const text =
      values.length === 0 ? "" : typeof first === "string" ? `: ${format([first, ...rest])}` : ` ${format(values)}`;
    say("error", `Assertion failed${text}`);
  },
  count: (label: unknown = "default") => {
    const count = (counts.get(String(label)) ?? 0) + 1;
    counts.set(String(label), count);
    say("info", `${String(label)}: ${count}`);
  },
  countReset: (label: unknown = "default") => void counts.delete(String(label)),
  time: (label: unknown = "default") => void starts.set(String(label), performance.now()),
  timeLog: (label: unknown = "default", ...values: unknown[]) => {
    const text = elapsed(String(label));
    if (text !== undefined) say("info", values.length === 0 ? text : `${text} ${format(values)}`);
  },
  timeEnd: (label: unknown = "default") => {
    const text = elapsed(String(label));
    if (text !== undefined) say("info", text);
    starts.delete(String(label));
  },
  group,
  groupCollapsed: group,
  groupEnd: () => {
    indent = indent.slice(2);
  },
  table: (data: unknown) => say("info", table(data)),
  clear: () => undefined,
};
