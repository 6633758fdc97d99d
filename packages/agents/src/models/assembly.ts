// An answer, put together from the parts of its stream
// ====================================================
// Blocks stand in the order in which they began. A text or reasoning block is open from its start to its end; a tool call
// counts only when it is complete.
//
// A1. `content()` of a finished stream is what the model's `doGenerate` would have answered.
// A2. What is kept of an unfinished stream can be sent to a provider again. The provider has thrown the answer away, so
//     nothing in it may refer to what the provider would have stored: an open block loses its metadata, and no block keeps an
//     `itemId` (OpenAI would look the item up, and refuse the request).

import type {
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4Reasoning,
  LanguageModelV4StreamPart,
  LanguageModelV4Text,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
  SharedV4Warning,
} from "@ai-sdk/provider";

type Finish = Extract<LanguageModelV4StreamPart, { type: "finish" }>;

interface Block {
  content: LanguageModelV4Content;
  isOpen: boolean;
}

/** Custom parts that tell of the stream and not of the answer: `doGenerate` has none of them. */
const NOTICES: ReadonlySet<string> = new Set(["anthropic.message_start"]);

const NO_USAGE: LanguageModelV4Usage = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};

export class Assembly {
  readonly #blocks: Block[] = [];
  readonly #open: Map<string, Block> = new Map();
  #finish: Finish | undefined;
  #hasOutput = false;
  warnings: SharedV4Warning[] = [];
  responseId: string | undefined;
  /** The model that says it answered: often a dated version. */
  answeredBy: string | undefined;

  /** The model has begun to answer. */
  get hasOutput(): boolean {
    return this.#hasOutput;
  }

  get finishReason(): LanguageModelV4FinishReason | undefined {
    return this.#finish?.finishReason;
  }

  get usage(): LanguageModelV4Usage {
    return this.#finish?.usage ?? NO_USAGE;
  }

  get providerMetadata(): SharedV4ProviderMetadata | undefined {
    return this.#finish?.providerMetadata;
  }

  get text(): string {
    return this.#blocks.map(({ content }) => (content.type === "text" ? content.text : "")).join("");
  }

  content(): LanguageModelV4Content[] {
    const isFinished = this.#finish !== undefined;
    const kept = this.#blocks.filter(({ content }) => isWorthKeeping(content));
    return kept.map(({ content, isOpen }) => (isFinished ? content : detached(content, isOpen)));
  }

  add(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case "stream-start":
        this.warnings = part.warnings;
        return;
      case "response-metadata":
        this.responseId = part.id ?? this.responseId;
        this.answeredBy = part.modelId ?? this.answeredBy;
        return;
      case "finish":
        this.#finish = part;
        return;
      case "ping":
      case "raw":
      case "error":
        return;
      default:
        if (part.type === "custom" && NOTICES.has(part.kind)) return;
        this.#hasOutput = true;
        this.#addOutput(part);
    }
  }

  #addOutput(part: OutputPart): void {
    switch (part.type) {
      case "text-start":
        return this.#begin(`text ${part.id}`, { type: "text", text: "" }, part.providerMetadata);
      case "reasoning-start":
        return this.#begin(`reasoning ${part.id}`, { type: "reasoning", text: "" }, part.providerMetadata);
      case "text-delta":
        return this.#grow(`text ${part.id}`, part.delta, part.providerMetadata);
      case "reasoning-delta":
        return this.#grow(`reasoning ${part.id}`, part.delta, part.providerMetadata);
      case "text-end":
        this.#grow(`text ${part.id}`, "", part.providerMetadata);
        return this.#end(`text ${part.id}`, part.citations === undefined ? {} : { citations: part.citations });
      case "reasoning-end":
        this.#grow(`reasoning ${part.id}`, "", part.providerMetadata);
        return this.#end(`reasoning ${part.id}`, {});
      case "tool-input-start":
      case "tool-input-delta":
      case "tool-input-end":
        return; // The complete call follows.
      case "tool-result":
        this.#replacePreliminary(part.toolCallId);
        this.#blocks.push({ content: part, isOpen: false });
        return;
      default:
        this.#blocks.push({ content: withoutBytes(part), isOpen: false });
    }
  }

  #begin(
    id: string,
    content: LanguageModelV4Text | LanguageModelV4Reasoning,
    metadata?: SharedV4ProviderMetadata,
  ): void {
    const block: Block = { content: withMetadata(content, metadata), isOpen: true };
    this.#blocks.push(block);
    this.#open.set(id, block);
  }

  #grow(id: string, delta: string, metadata?: SharedV4ProviderMetadata): void {
    const block = this.#open.get(id);
    if (block === undefined || (block.content.type !== "text" && block.content.type !== "reasoning")) return;
    block.content = withMetadata({ ...block.content, text: block.content.text + delta }, metadata);
  }

  #end(id: string, extra: Pick<LanguageModelV4Text, "citations">): void {
    const block = this.#open.get(id);
    if (block === undefined) return;
    if (block.content.type === "text") block.content = { ...block.content, ...extra };
    block.isOpen = false;
    this.#open.delete(id);
  }

  #replacePreliminary(toolCallId: string): void {
    const isReplaced = ({ content }: Block) =>
      content.type === "tool-result" && content.preliminary === true && content.toolCallId === toolCallId;
    const at = this.#blocks.findIndex(isReplaced);
    if (at !== -1) this.#blocks.splice(at, 1);
  }
}

type OutputPart = Exclude<
  LanguageModelV4StreamPart,
  { type: "stream-start" | "response-metadata" | "finish" | "ping" | "raw" | "error" }
>;

/** A later word about a block replaces an earlier one. */
function withMetadata<T extends LanguageModelV4Text | LanguageModelV4Reasoning>(
  content: T,
  metadata: SharedV4ProviderMetadata | undefined,
): T {
  return metadata === undefined ? content : { ...content, providerMetadata: metadata };
}

/** Models open blocks and say nothing in them; reasoning may be encrypted, and is then all metadata. */
function isWorthKeeping(content: LanguageModelV4Content): boolean {
  if (content.type === "text") return content.text !== "";
  if (content.type === "reasoning") return content.text !== "" || content.providerMetadata !== undefined;
  return true;
}

/** A2. */
function detached(content: LanguageModelV4Content, isOpen: boolean): LanguageModelV4Content {
  if (content.providerMetadata === undefined) return content;
  const { providerMetadata, ...rest } = content;
  if (isOpen) return rest as LanguageModelV4Content;
  const kept = Object.entries(providerMetadata).map(([provider, fields]) => {
    const { itemId: _, ...others } = fields;
    return [provider, others] as const;
  });
  return { ...content, providerMetadata: Object.fromEntries(kept) } as LanguageModelV4Content;
}

/** Bytes are not JSON: base64, as providers send them. */
function withoutBytes(content: LanguageModelV4Content): LanguageModelV4Content {
  if (content.type !== "file" && content.type !== "reasoning-file") return content;
  if (content.data.type !== "data" || typeof content.data.data === "string") return content;
  return { ...content, data: { type: "data", data: base64(content.data.data) } };
}

function base64(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** What a model that cannot stream answered, as the stream that it would have been. */
export function* partsOf(result: LanguageModelV4GenerateResult): Generator<LanguageModelV4StreamPart> {
  yield { type: "stream-start", warnings: result.warnings };
  const { id, modelId, timestamp } = result.response ?? {};
  if (id !== undefined || modelId !== undefined || timestamp !== undefined)
    yield {
      type: "response-metadata",
      ...(id === undefined ? {} : { id }),
      ...(timestamp === undefined ? {} : { timestamp }),
      ...(modelId === undefined ? {} : { modelId }),
    };
  for (const [index, content] of result.content.entries()) yield* blockParts(String(index), content);
  const { usage, finishReason, providerMetadata } = result;
  yield { type: "finish", usage, finishReason, ...(providerMetadata === undefined ? {} : { providerMetadata }) };
}

function* blockParts(id: string, content: LanguageModelV4Content): Generator<LanguageModelV4StreamPart> {
  if (content.type !== "text" && content.type !== "reasoning") {
    yield content;
    return;
  }
  const metadata = content.providerMetadata === undefined ? {} : { providerMetadata: content.providerMetadata };
  if (content.type === "reasoning") {
    yield { type: "reasoning-start", id, ...metadata };
    yield { type: "reasoning-delta", id, delta: content.text };
    yield { type: "reasoning-end", id };
    return;
  }
  yield { type: "text-start", id, ...metadata };
  yield { type: "text-delta", id, delta: content.text };
  yield { type: "text-end", id, ...(content.citations === undefined ? {} : { citations: content.citations }) };
}

export function streamOf(parts: Iterable<LanguageModelV4StreamPart>): ReadableStream<LanguageModelV4StreamPart> {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}
