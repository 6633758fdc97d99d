// What a call of a model uses at worst, before it is made.

import { TerminalError } from "@perdure/protocol";

/**
 * Bytes of a prompt to one token of it, at the least.
 * Tokenizers that work on bytes give at most one token a byte; on what agents really send they stay well below half of
 * that: English and code take 3 to 4.5 bytes a token, Chinese and Japanese 2 to 3 (a character has three bytes), rarer
 * scripts 2 or a little more. What goes below 2 are long runs of digits, base64 and the like; a prompt that is made of them
 * should be estimated with 1, which nothing exceeds.
 */
const BYTES_PER_TOKEN_MIN = 2;
/** An answer with less room is rarely worth its call. */
const MIN_OUTPUT_TOKENS = 256;

export interface EstimateOptions {
  /** Default 2. */
  readonly bytesPerToken?: number;
  /** With how few tokens for its answer the call is still worth making. Default 256. */
  readonly minOutputTokens?: number;
}

export interface TokenEstimate {
  readonly inputTokens: number;
  readonly maxOutputTokens: number;
  readonly minOutputTokens: number;
}

/**
 * An upper bound of what a call uses, if its answer is limited to `maxOutputTokens`.
 * @param promptBytes of the request's body as it is sent, in UTF-8: what its JSON has around the texts outweighs the marks
 * that a provider's template puts there. Images and files do not follow from their bytes: add what the provider says.
 */
export function estimateTokens(
  promptBytes: number,
  maxOutputTokens: number,
  options: EstimateOptions = {},
): TokenEstimate {
  const bytesPerToken = options.bytesPerToken ?? BYTES_PER_TOKEN_MIN;
  if (!(bytesPerToken > 0)) throw new TerminalError(`bytesPerToken must be more than 0, not ${bytesPerToken}`);
  checkCount("promptBytes", promptBytes);
  checkCount("maxOutputTokens", maxOutputTokens);
  const minOutputTokens = options.minOutputTokens ?? MIN_OUTPUT_TOKENS;
  checkCount("minOutputTokens", minOutputTokens);
  return { inputTokens: Math.ceil(promptBytes / bytesPerToken), maxOutputTokens, minOutputTokens };
}

/** @throws TerminalError */
export function checkCount(what: string, value: number): void {
  if (!Number.isSafeInteger(value) || value < 0)
    throw new TerminalError(`${what} must be a whole number of at least 0, not ${value}`);
}

/** @throws TerminalError */
export function checkUsd(what: string, value: number | null): void {
  if (value !== null && !(Number.isFinite(value) && value >= 0))
    throw new TerminalError(
      `${what} must be dollars of at least 0, or null where the price is not known, not ${value}`,
    );
}
