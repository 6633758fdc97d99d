// How many tokens a request will use, roughly: four bytes of text are one token, a file is many. Limits correct it later.

import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";

const BYTES_PER_TOKEN = 4;
/** An image of ordinary size, a few pages of a document. */
const TOKENS_PER_FILE = 1_500;
/** Where the request sets no limit on the answer. */
const OUTPUT_TOKENS = 1_024;

export function estimateTokens(options: Omit<LanguageModelV4CallOptions, "abortSignal">): number {
  const tools = (options.tools ?? []).map((tool) => (tool.type === "function" ? tool : tool.args));
  const bytes = bytesOf(options.prompt) + bytesOf(tools);
  return Math.ceil(bytes / BYTES_PER_TOKEN) + (options.maxOutputTokens ?? OUTPUT_TOKENS);
}

/** Of all texts in it. Keys and punctuation of the wire's JSON weigh about as much as what tokenizers save on words. */
function bytesOf(value: unknown): number {
  if (typeof value === "string") return utf8Bytes(value);
  if (typeof value !== "object" || value === null) return 0;
  if (isFile(value)) return TOKENS_PER_FILE * BYTES_PER_TOKEN;
  let bytes = 0;
  for (const part of Object.values(value)) bytes += bytesOf(part);
  return bytes;
}

function isFile(value: object): boolean {
  return "type" in value && (value.type === "file" || value.type === "reasoning-file");
}

function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit > 0x7ff) bytes += 2;
    else if (unit > 0x7f) bytes += 1;
  }
  return bytes;
}
