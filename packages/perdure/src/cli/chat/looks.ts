// What a chat shows of a session when it is asked, as lines.

import type { AgentStatus, BudgetStatus, TranscriptItem } from "@perdure/agents";
import { formatDuration } from "@perdure/protocol";
import type { Paint } from "../style.ts";
import { cut, plural, printable } from "../text.ts";
import type { Question } from "./approval-desk.ts";
import { harmless } from "./event-view.ts";

const VALUE_CHARS_MAX = 160;

export function questionLines({ title, input }: Question, paint: Paint): readonly string[] {
  const shown = harmless(shownInput(input)).split("\n");
  return [
    paint(["bold", "yellow"], `? ${printable(title)}`),
    ...shown.map((line) => `  ${line}`),
    paint("dim", "  y approves, n (and why) rejects, e edits what will be done"),
  ];
}

/** As JSON, with long texts as they read. */
function shownInput(input: unknown): string {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return JSON.stringify(input, null, 2) ?? "";
  return Object.entries(input)
    .map(([name, value]: [string, unknown]) =>
      typeof value === "string" && value.includes("\n")
        ? `${name}:\n${value.replaceAll(/^/gm, "  ")}`
        : `${name}: ${JSON.stringify(value)}`,
    )
    .join("\n");
}

export function statusLines({ state, turn, items, children }: AgentStatus, asked: number): readonly string[] {
  return [
    `${state}${turn === null ? "" : `  ${turn}`}  ${plural(items, "item")}`,
    ...(asked === 0 ? [] : [`${plural(asked, "question")} to answer`]),
    ...children.map(({ name, agent, run }) => printable(`→ ${agent}  ${name}  ${run}`)),
  ];
}

export function historyLines(
  items: readonly TranscriptItem[],
  paint: Paint,
  width: number | undefined,
): readonly string[] {
  if (items.length === 0) return ["nothing was said yet"];
  const value = (given: unknown): string => {
    const text = printable(typeof given === "string" ? given : JSON.stringify(given));
    return cut(text, Math.min(VALUE_CHARS_MAX, (width ?? VALUE_CHARS_MAX) - 24));
  };
  return items.flatMap((item) => itemLines(item, paint, value));
}

function itemLines(item: TranscriptItem, paint: Paint, value: (given: unknown) => string): readonly string[] {
  switch (item.type) {
    case "message":
      return [`${paint("bold", item.from === undefined ? "›" : `${printable(item.from)} ›`)} ${printable(item.text)}`];
    case "assistant":
      return item.content.flatMap((part) => {
        if (part.type === "text") return harmless(part.text).split("\n");
        if (part.type === "reasoning")
          return harmless(part.text)
            .split("\n")
            .map((line) => paint("dim", line));
        return part.type === "tool-call"
          ? [`${paint("cyan", `⚙ ${printable(part.toolName)}`)} ${value(part.input)}`]
          : [];
      });
    case "tool":
      return [`  ${item.outcome === "ok" ? "✓" : "✗"} ${printable(item.name)} ${paint("dim", value(item.output))}`];
    case "decision":
      return [`  ${item.decision}${item.by === undefined ? "" : ` by ${printable(item.by)}`}`];
    case "compaction":
      return [paint("dim", `(what came before ${item.upTo} is told to the model as a summary)`)];
    case "restart":
      return [paint("yellow", "↺ it begins anew")];
  }
}

/** How a budget stands, a line for each of its limits. */
export function budgetLines(status: BudgetStatus): readonly string[] {
  const { limits, spent, reserved, waiting, asked, denied, unpriced } = status;
  const usd = (amount: number): string => `$${amount.toFixed(4)}`;
  const count = (amount: number): string => amount.toLocaleString("en");
  const row = (name: string, used: string, limit: string | undefined, held = ""): string =>
    `${name.padEnd(7)} ${used}${limit === undefined ? "" : ` of ${limit}`}${held === "" ? "" : ` (${held} reserved)`}`;
  const limit = <T>(value: T | undefined, show: (value: T) => string): string | undefined =>
    value === undefined ? undefined : show(value);
  return [
    row(
      "tokens",
      count(spent.tokens),
      limit(limits.tokens, count),
      reserved.tokens === 0 ? "" : count(reserved.tokens),
    ),
    row("dollars", usd(spent.usd), limit(limits.usd, usd), reserved.usd === 0 ? "" : usd(reserved.usd)),
    row("calls", count(spent.calls), limit(limits.calls, count)),
    ...(limits.wallMs === undefined ? [] : [row("time", formatDuration(spent.wallMs), formatDuration(limits.wallMs))]),
    ...(unpriced.calls === 0 ? [] : [`${plural(unpriced.calls, "call")} of models whose price is not known`]),
    ...(waiting === 0 ? [] : [`${plural(waiting, "call")} ${waiting === 1 ? "waits" : "wait"} for room`]),
    ...(asked === null ? [] : [`a person is asked ${asked.about === "price" ? `about ${asked.model}` : "for more"}`]),
    ...(denied === null ? [] : [`more was denied${denied.by === undefined ? "" : ` by ${denied.by}`}`]),
  ];
}
