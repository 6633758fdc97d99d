// What a wire format has to do for the scripted provider: read a request, and write a plan as events or as one document.

import type { ScriptedError, ScriptedMessage, ScriptedPiece, ScriptedPlan, ScriptedRequest } from "@perdure/agents";

export type JsonObject = Readonly<Record<string, unknown>>;

/** What every response carries. Numbered, not random, so that two runs write the same bytes. */
export interface ResponseHead {
  readonly number: number;
  readonly modelId: string;
  readonly createdAtSeconds: number;
  /** The request's body: some of it is echoed. */
  readonly request: JsonObject;
}

export interface WireFormat {
  readonly api: ScriptedRequest["api"];
  readonly path: string;
  read(body: JsonObject): Pick<ScriptedRequest, "modelId" | "streaming" | "messages" | "tools" | "maxOutputTokens">;
  /** One for each response: it remembers which block it is in. */
  writer(plan: ScriptedPlan, head: ResponseHead): StreamWriter;
  whole(plan: ScriptedPlan, head: ResponseHead): JsonObject;
  failure(error: ScriptedError): Failure;
}

/** Each text is one or more complete events. */
export interface StreamWriter {
  begin(): string;
  piece(piece: ScriptedPiece): string;
  end(): string;
  /** Instead of what would have come. */
  fail(error: "overloaded" | "server"): string;
}

export interface Failure {
  readonly status: number;
  readonly body: (message: string | undefined) => JsonObject;
}

/** `event:` and `data:` lines, and the empty line that ends them. */
export function event(data: JsonObject, name?: string): string {
  return `${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
}

/** The blocks of a plan, each with all of its text. */
export interface PlannedBlock {
  readonly kind: ScriptedPiece["kind"];
  readonly text: string;
  readonly id: string;
  readonly name: string;
}

export function blocksOf(plan: ScriptedPlan): PlannedBlock[] {
  const blocks: PlannedBlock[] = [];
  for (const piece of plan.pieces) {
    const last = blocks.at(-1);
    if (piece.isFirst || last === undefined) {
      const { id, name } = piece.kind === "tool-call" ? piece : { id: "", name: "" };
      blocks.push({ kind: piece.kind, text: piece.delta, id, name });
    } else blocks[blocks.length - 1] = { ...last, text: last.text + piece.delta };
  }
  return blocks;
}

/** All texts in the content of a message, in whichever of the formats. */
export function textIn(content: unknown): string {
  if (typeof content === "string") return content;
  if (Array.isArray(content))
    return content
      .map(textIn)
      .filter((text) => text !== "")
      .join("\n");
  if (typeof content !== "object" || content === null) return "";
  const { text, content: inner, output } = content as JsonObject;
  return textIn(text ?? inner ?? output ?? "");
}

export function list(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly JsonObject[]) : [];
}

export function text(value: unknown, otherwise = ""): string {
  return typeof value === "string" ? value : otherwise;
}

export function count(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

export function roleOf(role: unknown): ScriptedMessage["role"] {
  switch (role) {
    case "system":
    case "developer":
      return "system";
    case "assistant":
    case "tool":
      return role;
    default:
      return "user";
  }
}
