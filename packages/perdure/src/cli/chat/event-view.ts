// The events of a session, shown as they come
// ===========================================
// V1. What the model says flows; everything else is one line.
// V2. A try of a model call that is made again supersedes what the try before has shown, and that is said.
// V3. Nothing of what is shown can move the reader's cursor.

import type { AgentEvent } from "@perdure/agents";
import type { Paint } from "../style.ts";
import { cut, plural, printable } from "../text.ts";
import type { FlowStyle, Screen } from "./screen.ts";

export interface EventViewOptions {
  readonly paint: Paint;
  /** Columns for a line; undefined: as long as it is. */
  readonly width: number | undefined;
  /** Whose session it is; undefined: the one that is talked to. */
  readonly child?: string;
  /** Was the message sent from here? */
  isOwn(run: string): boolean;
}

type PartEvent = Extract<AgentEvent, { type: "part" }>;
type TurnEnd = Extract<AgentEvent, { type: "turn-end" }>;

/** Of inputs and results, also where there is no terminal: a line is to be read at a glance. */
const VALUE_CHARS_MAX = 160;

export class EventView {
  readonly #screen: Screen;
  readonly #options: EventViewOptions;
  /** Calls that have begun: when one begins again, it is another try. */
  readonly #calls: Set<string> = new Set();

  constructor(screen: Screen, options: EventViewOptions) {
    this.#screen = screen;
    this.#options = options;
  }

  show(event: AgentEvent): void {
    const { paint } = this.#options;
    switch (event.type) {
      case "turn-start":
        this.#calls.clear();
        return;
      case "message":
        return this.#message(event);
      case "call-start":
        if (this.#calls.has(event.call))
          this.#line(paint("yellow", "↻ once more: what this answer said above is superseded"));
        this.#calls.add(event.call);
        return;
      case "part":
        return this.#part(event);
      case "call-end":
        if (event.outcome === "failed")
          this.#line(paint("yellow", `! the model failed: ${printable(event.error ?? "without a reason")}`));
        else if (event.outcome === "interrupted") this.#line(paint("dim", "(interrupted; what was said is kept)"));
        return;
      case "tool-progress":
        return this.#line(paint("dim", `  … ${this.#value(event.data)}`));
      case "tool-end":
        return this.#toolEnd(event);
      case "approval-asked":
        return; // Shown by whoever can answer it.
      case "approval-answered": {
        const by = event.by === undefined ? "" : ` by ${printable(event.by)}`;
        return this.#line(paint(event.decision === "approved" ? "green" : "red", `${event.decision}${by}`));
      }
      case "child":
        return this.#line(paint("cyan", `→ ${printable(event.agent)} begins (${printable(event.child)})`));
      case "budget-soft": {
        const budgets = event.budgets.map(printable).join(", ");
        return this.#line(paint("yellow", `! most of the budget ${budgets} is used: /budget shows it`));
      }
      case "compaction":
        return this.#line(paint("dim", "(what was said first is told to the model as a summary from now on)"));
      case "restart":
        return this.#line(paint("yellow", "↺ what was under way is called off; it begins anew"));
      case "turn-end":
        return this.#line(this.#turnEnd(event));
    }
  }

  #message({ id, text, from, policy }: Extract<AgentEvent, { type: "message" }>): void {
    const { paint, child } = this.#options;
    if (this.#options.isOwn(id)) return this.#line(paint("green", "✓✓ seen"));
    if (child !== undefined) return; // Its task stands in the parent's call.
    const who = from === undefined ? "" : `${printable(from)} `;
    this.#line(
      `${paint("bold", `${who}›`)} ${printable(text)}${policy === "steer" ? "" : paint("dim", ` (${policy})`)}`,
    );
  }

  #part({ call, part }: PartEvent): void {
    switch (part.type) {
      case "text-delta":
        return this.#flow("text", call, part.delta);
      case "reasoning-delta":
        return this.#flow("reasoning", call, part.delta);
      case "tool-call":
        return this.#line(`${this.#options.paint("cyan", `⚙ ${printable(part.toolName)}`)} ${this.#value(part.input)}`);
      default:
        return;
    }
  }

  #toolEnd({ name, outcome, output }: Extract<AgentEvent, { type: "tool-end" }>): void {
    const { paint } = this.#options;
    const mark = outcome === "ok" ? paint("green", "✓") : paint("red", "✗");
    const how = outcome === "ok" || outcome === "error" ? "" : ` ${outcome}`;
    this.#line(`  ${mark} ${printable(name)}${how} ${paint("dim", this.#value(output))}`);
  }

  #turnEnd({ reason, usage, error }: TurnEnd): string {
    const { inputTokens, outputTokens, usd, calls } = usage;
    const cost = usd === null || usd === 0 ? "" : ` · $${usd.toFixed(4)}`;
    const used = `${plural(calls, "call")} · ${plural(inputTokens + outputTokens, "token")}${cost}`;
    const failed = reason === "failed" || reason === "cancelled";
    const why = error === undefined ? "" : `: ${printable(error)}`;
    return this.#options.paint(failed ? "red" : "dim", `— ${reason}${why} · ${used}`);
  }

  #flow(style: FlowStyle, call: string, text: string): void {
    const { child = "" } = this.#options;
    this.#screen.flow(`${child}/${call}`, style, harmless(text));
  }

  #line(text: string): void {
    const { child, paint } = this.#options;
    this.#screen.line(child === undefined ? text : `${paint("dim", `${printable(child)} ▏`)}${text}`);
  }

  #value(value: unknown): string {
    const text = printable(typeof value === "string" ? value : JSON.stringify(value));
    return cut(text, Math.min(VALUE_CHARS_MAX, (this.#options.width ?? VALUE_CHARS_MAX) - 24));
  }
}

/** Lines may break; nothing else moves the cursor. */
export function harmless(text: string): string {
  return text
    .split("\n")
    .map((line) => printable(line.replaceAll("\t", "  ").replaceAll("\r", "")))
    .join("\n");
}
