// One model call as chunks: what its provider says, try by try
// ============================================================
//   idle ─▶ open ─▶ settled | interrupted          open ─▶ failed ─▶ open …
//
// C1. What is begun is ended: no part stays open behind a try, however it ends, and no tool call hangs that was never made.
// C2. A later try begins with nothing of the earlier one: `reset-step` takes away what that had said, and its parts have
//     ids of their own, since they are numbered by try. (A server that died leaves a try without an end: the next try's
//     beginning ends it.)

import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { AgentEvent } from "../agent/events.ts";
import { asText, NOT_CALLED, readInput, sourceOrFile } from "./parts.ts";
import type { AgentUIChunk } from "./types.ts";

type CallStart = Extract<AgentEvent, { type: "call-start" }>;
type CallEnd = Extract<AgentEvent, { type: "call-end" }>;

interface ToolInput {
  readonly name: string;
  /** The input is whole: the call is made where the answer is. */
  called: boolean;
}

export class CallChunks {
  readonly call: string;
  #tries = 0;
  #model = "";
  #state: "idle" | "open" | "failed" | "settled" | "interrupted" = "idle";
  #error: string | undefined = undefined;
  readonly #openTexts: Map<string, "text" | "reasoning"> = new Map();
  readonly #tools: Map<string, ToolInput> = new Map();

  constructor(call: string) {
    this.call = call;
  }

  start({ model }: CallStart): AgentUIChunk[] {
    const chunks: AgentUIChunk[] = [];
    if (this.#tries === 0) chunks.push({ type: "start-step" });
    else {
      chunks.push(...this.#closeTexts(), { type: "reset-step" }, this.#failure());
      this.#tools.clear();
    }
    this.#tries += 1;
    this.#model = model;
    this.#error = undefined;
    this.#state = "open";
    return chunks;
  }

  end({ outcome, error }: CallEnd): AgentUIChunk[] {
    if (this.#state !== "open") return [];
    const chunks = this.#closeTexts();
    this.#state = outcome;
    switch (outcome) {
      case "settled":
        chunks.push({ type: "finish-step" });
        break;
      case "failed":
        this.#error = error;
        chunks.push(this.#failure());
        break;
      case "interrupted": {
        chunks.push(...this.#dropTools());
        chunks.push({ type: "data-interrupted", id: this.call, data: { call: this.call } }, { type: "finish-step" });
        break;
      }
    }
    return chunks;
  }

  /** The turn is over, and there will be no more: a try without an end, or behind a failed one no other. */
  cut(): AgentUIChunk[] {
    if (this.#state !== "open" && this.#state !== "failed") return [];
    this.#state = "interrupted";
    return [...this.#closeTexts(), ...this.#dropTools()];
  }

  part(part: LanguageModelV4StreamPart): AgentUIChunk[] {
    if (this.#state !== "open") return [];
    switch (part.type) {
      case "text-start":
      case "reasoning-start": {
        const kind = part.type === "text-start" ? "text" : "reasoning";
        this.#openTexts.set(part.id, kind);
        return [{ type: part.type, id: this.#idOf(part.id), ...metadataOf(part) }];
      }
      case "text-delta":
      case "reasoning-delta":
        return [{ type: part.type, id: this.#idOf(part.id), delta: part.delta, ...metadataOf(part) }];
      case "text-end":
      case "reasoning-end":
        this.#openTexts.delete(part.id);
        return [{ type: part.type, id: this.#idOf(part.id), ...metadataOf(part) }];
      case "source":
      case "file": {
        const chunk = sourceOrFile(part);
        return chunk === undefined ? [] : [chunk];
      }
      default:
        return this.#toolPart(part);
    }
  }

  #toolPart(part: LanguageModelV4StreamPart): AgentUIChunk[] {
    switch (part.type) {
      case "tool-input-start": {
        const { id: toolCallId, toolName } = part;
        this.#tools.set(toolCallId, { name: toolName, called: false });
        return [{ type: part.type, toolCallId, toolName, ...marksOf(part) }];
      }
      case "tool-input-delta":
        return [{ type: part.type, toolCallId: part.id, inputTextDelta: part.delta }];
      case "tool-call": {
        const { toolCallId, toolName } = part;
        this.#tools.set(toolCallId, { name: toolName, called: true });
        const read = readInput(part.input);
        const named = { toolCallId, toolName, ...marksOf(part), ...metadataOf(part) };
        if (read.ok) return [{ type: "tool-input-available", ...named, input: read.input }];
        return [{ type: "tool-input-error", ...named, input: read.text, errorText: "The input is not JSON." }];
      }
      case "tool-result": {
        const { toolCallId, result, isError, preliminary } = part;
        this.#tools.delete(toolCallId);
        if (isError === true)
          return [{ type: "tool-output-error", toolCallId, errorText: asText(result), providerExecuted: true }];
        const early = preliminary === true ? { preliminary } : {};
        return [{ type: "tool-output-available", toolCallId, output: result, providerExecuted: true, ...early }];
      }
      default:
        return [];
    }
  }

  #idOf(id: string): string {
    return `${this.call}.${this.#tries}.${id}`;
  }

  #closeTexts(): AgentUIChunk[] {
    const chunks = [...this.#openTexts].map(
      ([id, kind]): AgentUIChunk => ({ type: `${kind}-end`, id: this.#idOf(id) }),
    );
    this.#openTexts.clear();
    return chunks;
  }

  /** Of an answer that is not whole no call is made. */
  #dropTools(): AgentUIChunk[] {
    const chunks = [...this.#tools].map(([toolCallId, { name, called }]): AgentUIChunk => {
      if (called) return { type: "tool-output-error", toolCallId, errorText: NOT_CALLED };
      return { type: "tool-input-error", toolCallId, toolName: name, input: undefined, errorText: NOT_CALLED };
    });
    this.#tools.clear();
    return chunks;
  }

  #failure(): AgentUIChunk {
    const cause = this.#error === undefined ? {} : { error: this.#error };
    const data = { call: this.call, attempts: this.#tries, model: this.#model, ...cause };
    return { type: "data-attempt-failed", id: this.call, data };
  }
}

function metadataOf(
  part: Pick<Extract<LanguageModelV4StreamPart, { type: "text-start" }>, "providerMetadata">,
): Pick<typeof part, "providerMetadata"> {
  return part.providerMetadata === undefined ? {} : { providerMetadata: part.providerMetadata };
}

function marksOf(part: { readonly providerExecuted?: boolean; readonly dynamic?: boolean }): {
  providerExecuted?: true;
  dynamic?: true;
} {
  return {
    ...(part.providerExecuted === true ? { providerExecuted: true as const } : {}),
    ...(part.dynamic === true ? { dynamic: true as const } : {}),
  };
}
