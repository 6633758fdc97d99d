// Compaction: when a request would grow too large, what is older is told to models as a summary. Nothing is lost: the summary
// is an item of the transcript that points at how far it reaches, and the items stay.

import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { estimateTokens } from "../models/estimate.ts";
import type { ModelAnswer } from "../models/types.ts";
import { promptOf } from "./conversation.ts";
import type { AgentSpec } from "./definition.ts";
import type { Usage } from "./messages.ts";
import type { CompactionItem, TranscriptItem } from "./transcript.ts";

const SUMMARIZE = [
  "Summarize the conversation above for yourself: you will go on from your summary alone.",
  "Keep what was asked, what was decided, what was found out (with sources, names, figures, ids), what was done, and what is",
  "still to be done. Write it as plain text, without a preamble.",
].join(" ");

export interface Compaction {
  readonly options: Omit<LanguageModelV4CallOptions, "abortSignal">;
  readonly upTo: number;
  readonly item: (answer: ModelAnswer, usage: Usage) => CompactionItem;
}

export function requestTokens(options: Omit<LanguageModelV4CallOptions, "abortSignal">): number {
  return estimateTokens({ ...options, maxOutputTokens: 0 });
}

/** The request for a summary, or undefined where there is nothing old enough. @param first offset of `items[0]`. */
export function compactionOf(
  spec: AgentSpec,
  items: readonly TranscriptItem[],
  first: number,
  keepTokens: number,
): Compaction | undefined {
  const boundary = boundaryOf(spec, items, keepTokens);
  if (boundary === 0) return undefined;
  const { instructions, resultCharsMax } = spec;
  const prompt = promptOf(items.slice(0, boundary), first, { instructions, resultCharsMax });
  const request = { type: "text" as const, text: spec.options.context?.summarize ?? SUMMARIZE };
  const last = prompt.at(-1);
  if (last?.role === "user") last.content.push(request);
  else prompt.push({ role: "user", content: [request] });
  const upTo = first + boundary;
  return {
    options: { prompt },
    upTo,
    item: (answer, usage) => ({ type: "compaction", summary: textOf(answer), upTo, usage }),
  };
}

/** How many items are summarized. What is kept begins with a message or an answer: a result stays with its call. */
function boundaryOf(spec: AgentSpec, items: readonly TranscriptItem[], keepTokens: number): number {
  let kept = 0;
  let boundary = items.length;
  while (boundary > 0) {
    const item = items[boundary - 1];
    if (item === undefined) break;
    const { resultCharsMax } = spec;
    kept +=
      requestTokens({ prompt: promptOf([item], 0, { instructions: "", resultCharsMax }) }) +
      sizeOfResult(item, resultCharsMax);
    if (kept > keepTokens) break;
    boundary -= 1;
  }
  while (boundary < items.length && !beginsSomething(items[boundary])) boundary += 1;
  return boundary < items.length ? boundary : lastBeginning(items);
}

/** The newest items alone are too much: all but the last beginning is summarized. */
function lastBeginning(items: readonly TranscriptItem[]): number {
  return Math.max(0, items.findLastIndex(beginsSomething));
}

function beginsSomething(item: TranscriptItem | undefined): boolean {
  return item?.type === "message" || item?.type === "assistant";
}

/** A result alone makes no prompt. Four characters are about a token. */
function sizeOfResult(item: TranscriptItem, charsMax: number): number {
  if (item.type !== "tool") return 0;
  const chars = typeof item.output === "string" ? item.output.length : JSON.stringify(item.output).length;
  return Math.ceil(Math.min(chars, charsMax) / 4);
}

function textOf(answer: ModelAnswer): string {
  return answer.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
}
