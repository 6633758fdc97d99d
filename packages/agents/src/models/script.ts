// What a scripted provider answers
// ================================
// A script is a function from a request to an answer. The model in memory (`scriptedModel`) and the server that speaks the
// providers' wire formats (`perdure/testing`) take the same scripts.
//
// An answer is a plan of pieces, each about a token; pace and faults are counted in them, so that the same script does the
// same in memory and on the wire.

export interface ScriptedMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  /** All its texts, tool results among them. */
  readonly text: string;
}

export interface ScriptedRequest {
  readonly api: "in-memory" | "openai-chat" | "openai-responses" | "anthropic-messages";
  readonly modelId: string;
  readonly streaming: boolean;
  readonly idempotencyKey: string | undefined;
  readonly messages: readonly ScriptedMessage[];
  /** Names of the functions that the model may call. */
  readonly tools: readonly string[];
  readonly maxOutputTokens: number | undefined;
  /** In lower case; empty in memory, but for those of the call. */
  readonly headers: Readonly<Record<string, string>>;
  /** As it was sent; in memory the options of the call. */
  readonly body: unknown;
}

/** @param seen how often this request came, with this time: by its idempotency key, else by its body. */
export type Script = (request: ScriptedRequest, seen: number) => ScriptedAnswer | Promise<ScriptedAnswer>;

/** A text alone is a reply. */
export type ScriptedAnswer = string | ScriptedReply | ScriptedRefusal | ScriptedRecording;

export interface ScriptedReply extends ScriptedManner {
  readonly reasoning?: string;
  readonly text?: string;
  readonly toolCalls?: readonly ScriptedToolCall[];
  /** Default: `tool-calls` where there are some, else `stop`. */
  readonly finish?: "stop" | "length" | "content-filter" | "tool-calls";
  readonly usage?: ScriptedUsage;
}

export interface ScriptedToolCall {
  readonly name: string;
  readonly input: unknown;
  /** Default: `call_` and its number. */
  readonly id?: string;
}

export interface ScriptedUsage {
  /** All of it, cached or not. Default: a quarter of the prompt's characters. */
  readonly inputTokens?: number;
  readonly cachedInputTokens?: number;
  readonly cacheWriteTokens?: number;
  /** With reasoning. Default: the number of pieces. */
  readonly outputTokens?: number;
  readonly reasoningTokens?: number;
}

/** An error instead of an answer. */
export interface ScriptedRefusal {
  readonly error: ScriptedError;
  readonly message?: string;
  readonly retryAfterMs?: number;
  /** The error comes so late. */
  readonly firstTokenMs?: number;
}

export type ScriptedError =
  | "rate-limited"
  | "quota"
  | "server"
  | "overloaded"
  | "context-length"
  | "invalid-key"
  | "bad-request"
  | "content-filter";

/** A response as it was recorded: status line, headers, an empty line, the body. Only for the server. */
export interface ScriptedRecording extends ScriptedManner {
  readonly recording: string;
}

export interface ScriptedManner {
  /** Silence before the first piece. Default: 0. */
  readonly firstTokenMs?: number;
  /** Default: all at once. */
  readonly tokensPerSecond?: number;
  readonly fault?: ScriptedFault;
}

/** What goes wrong after so many pieces. `cut`: the connection breaks; `stall`: silence for ever. */
export interface ScriptedFault {
  readonly kind: "cut" | "stall" | "overloaded" | "server";
  readonly afterTokens: number;
}

export type ScriptedPiece =
  | { readonly kind: "reasoning" | "text"; readonly delta: string; readonly isFirst: boolean; readonly isLast: boolean }
  | {
      readonly kind: "tool-call";
      readonly index: number;
      readonly id: string;
      readonly name: string;
      readonly delta: string;
      /** All of the input, as JSON. */
      readonly input: string;
      readonly isFirst: boolean;
      readonly isLast: boolean;
    };

/** A reply with nothing left to decide. */
export interface ScriptedPlan {
  readonly pieces: readonly ScriptedPiece[];
  readonly finish: "stop" | "length" | "content-filter" | "tool-calls";
  readonly usage: Required<ScriptedUsage>;
}

const INPUT_PIECE_CHARS = 12;
const CHARS_PER_TOKEN = 4;

export function planReply(reply: ScriptedReply, request: Pick<ScriptedRequest, "messages">): ScriptedPlan {
  const calls = reply.toolCalls ?? [];
  const pieces = [
    ...proseOf("reasoning", reply.reasoning ?? ""),
    ...proseOf("text", reply.text ?? ""),
    ...calls.flatMap((call, index) => callOf(call, index)),
  ];
  const promptChars = request.messages.reduce((sum, { text }) => sum + text.length, 0);
  return {
    pieces,
    finish: reply.finish ?? (calls.length > 0 ? "tool-calls" : "stop"),
    usage: {
      inputTokens: reply.usage?.inputTokens ?? Math.ceil(promptChars / CHARS_PER_TOKEN),
      cachedInputTokens: reply.usage?.cachedInputTokens ?? 0,
      cacheWriteTokens: reply.usage?.cacheWriteTokens ?? 0,
      outputTokens: reply.usage?.outputTokens ?? pieces.length,
      reasoningTokens: reply.usage?.reasoningTokens ?? pieces.filter(({ kind }) => kind === "reasoning").length,
    },
  };
}

/** Words with the space before them. */
function proseOf(kind: "reasoning" | "text", text: string): ScriptedPiece[] {
  const words = text.match(/\s*\S+|\s+$/g) ?? [];
  return words.map((delta, at) => ({ kind, delta, isFirst: at === 0, isLast: at === words.length - 1 }));
}

function callOf(call: ScriptedToolCall, index: number): ScriptedPiece[] {
  const input = JSON.stringify(call.input) ?? "null";
  const deltas = input.match(new RegExp(`[^]{1,${INPUT_PIECE_CHARS}}`, "gu")) ?? [];
  const id = call.id ?? `call_${index + 1}`;
  return deltas.map((delta, at) => {
    const isLast = at === deltas.length - 1;
    return { kind: "tool-call", index, id, name: call.name, delta, input, isFirst: at === 0, isLast };
  });
}

/** What was asked and what was delivered, by idempotency key: proof that nothing was paid twice. */
export class Bill {
  readonly #lines: Map<string, BillLine> = new Map();
  #keyless = 0;

  get lines(): readonly BillLine[] {
    return [...this.#lines.values()].map((line) => ({ ...line }));
  }

  /** Keys whose answer was delivered in full more than once. */
  get paidTwice(): readonly string[] {
    return this.lines.filter(({ completed }) => completed > 1).map(({ key }) => key);
  }

  line(key: string): BillLine | undefined {
    const line = this.#lines.get(key);
    return line === undefined ? undefined : { ...line };
  }

  /** A request came. @returns what is to be called when its answer was delivered in full. */
  open(idempotencyKey: string | undefined): (usage: { inputTokens: number; outputTokens: number }) => void {
    this.#keyless += idempotencyKey === undefined ? 1 : 0;
    const key = idempotencyKey ?? `without a key, ${this.#keyless}`;
    const line = this.#lines.get(key) ?? { key, requests: 0, completed: 0, inputTokens: 0, outputTokens: 0 };
    this.#lines.set(key, { ...line, requests: line.requests + 1 });
    return ({ inputTokens, outputTokens }) => {
      const now = this.#lines.get(key) ?? line;
      this.#lines.set(key, {
        ...now,
        completed: now.completed + 1,
        inputTokens: now.inputTokens + inputTokens,
        outputTokens: now.outputTokens + outputTokens,
      });
    };
  }
}

export interface BillLine {
  readonly key: string;
  readonly requests: number;
  readonly completed: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Counts how often a request came. */
export class Sightings {
  readonly #counts: Map<string, number> = new Map();

  count({ idempotencyKey, body }: Pick<ScriptedRequest, "idempotencyKey" | "body">): number {
    const identity = idempotencyKey ?? JSON.stringify(body);
    const seen = (this.#counts.get(identity) ?? 0) + 1;
    this.#counts.set(identity, seen);
    return seen;
  }
}
