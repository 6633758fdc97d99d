// A research agent by hand: ten turns, each a request to a model and a look at a page, and a transcript that it keeps in its
// heap. After that it waits for words, and each makes it wait again. The same handler twice: remembered by its memory, and
// by its journal.

import { service, type Context } from "perdure";
import { askModel, readPage } from "./hands.ts";

export interface Research {
  readonly topic: string;
  readonly turns: number;
  /** It waits for words at the end; else it ends. */
  readonly stays: boolean;
}

interface Message {
  readonly role: "user" | "assistant" | "tool";
  readonly text: string;
}

async function research(ctx: Context, { topic, turns, stays }: Research): Promise<{ messages: number; words: number }> {
  const transcript: Message[] = [{ role: "user", text: topic }];
  for (let turn = 0; turn < turns; turn += 1) {
    const answer = await ctx.step(`model ${turn}`, () => askModel(topic, transcript.length));
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

export const remembered = service("remembered", { research }, { memory: "snapshot" });
export const replayed = service("replayed", { research });
