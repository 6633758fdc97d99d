// Handlers for isolates, each twice: remembered by its memory (`snapshot…`), and by its journal (`journal…`).

import { service, type Context } from "perdure";
import { askModel, readPage, seen } from "./hands.ts";

export interface Research {
  readonly topic: string;
  readonly turns: number;
  /** Of the model, before it answers. */
  readonly pauseMs: number;
  /** It waits for words at the end, and each makes it wait again; else it ends. */
  readonly stays: boolean;
}

interface Message {
  readonly role: "user" | "assistant" | "tool";
  readonly text: string;
}

/** A research agent by hand: turns of a request to a model and a look at a page, and a transcript kept in the heap. */
async function research(
  ctx: Context,
  { topic, turns, pauseMs, stays }: Research,
): Promise<{ messages: number; words: number }> {
  const transcript: Message[] = [{ role: "user", text: topic }];
  for (let turn = 0; turn < turns; turn += 1) {
    const answer = await ctx.step(`model ${turn}`, () => askModel(topic, transcript.length, pauseMs));
    transcript.push({ role: "assistant", text: answer.text });
    const text = await ctx.step(`page ${turn}`, () => readPage(answer.page));
    transcript.push({ role: "tool", text });
  }
  let words = 0;
  if (stays)
    for await (const word of ctx.signals<string>("word")) {
      if (word === "end") break;
      words += 1;
    }
  return { messages: transcript.length, words };
}

export interface Growth {
  readonly entries: number;
}

const PARALLEL = 250;

/** A run whose journal grows to a wanted length, and that then says when it sees a signal. */
async function grow(ctx: Context, { entries }: Growth): Promise<void> {
  // A step begun beside others takes two entries, its command and its result; the last of a group only one.
  for (let filled = 0; filled < entries; ) {
    const count = Math.min(PARALLEL, Math.max(1, Math.ceil((entries - filled) / 2)));
    await Promise.all(Array.from({ length: count }, (_, index) => ctx.step(`fill ${index}`, () => index)));
    filled += Math.max(1, count * 2 - 1);
  }
  for await (const round of ctx.signals<number>("round")) {
    if (round < 0) return;
    await ctx.step("seen", () => seen());
  }
}

export const inSnapshots = service("snapshot", { research, grow }, { memory: "snapshot" });
export const inJournals = service("journal", { research, grow });
