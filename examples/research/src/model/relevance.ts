// What a message means for work that is under way. A model judges: any language model, or the extractive one by its rules.

import type { LanguageModelV4 } from "@ai-sdk/provider";
import { generateText, Output } from "ai";
import { z } from "zod";

/** Name of the answer's form: the extractive model goes by it. */
export const RELEVANCE = "relevance";

const Judgement = z.object({ relevance: z.enum(["steer", "restart", "queue"]) });

/** `steer`: it changes the course; `restart`: it takes the task back for another; `queue`: it is for later. */
export type Relevance = z.infer<typeof Judgement>["relevance"];

const INSTRUCTIONS = `An agent is at work on a task, and a message arrives. Say what it means for the work:
"steer" if it adds to the task, narrows it or corrects it; "restart" if it takes the task back and asks for something else;
"queue" if it is about something else that is to be done afterwards. Answer as JSON: {"relevance": "…"}`;

export interface Call {
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
}

/** Without retries of its own: whoever keeps the journal also keeps the count. */
export async function askRelevance(
  model: LanguageModelV4,
  task: string,
  message: string,
  { idempotencyKey, signal }: Call,
): Promise<Relevance> {
  const { output } = await generateText({
    model,
    instructions: INSTRUCTIONS,
    prompt: `The task:\n${task}\n\nThe message:\n${message}`,
    output: Output.object({ name: RELEVANCE, schema: Judgement }),
    maxRetries: 0,
    abortSignal: signal,
    headers: { "idempotency-key": idempotencyKey },
  });
  return output.relevance;
}

const ANEW =
  /^\W*(?:no,?\s+|ok(?:ay)?,?\s+|please,?\s+)?(?:forget|scrap|drop|never ?mind|start (?:over|anew|again)|stop that|instead)\b/i;
const LATER = /^\W*(?:then|next|later|afterwards?|after that|when you(?:'re| are) done)\b/i;

/** The extractive model's rules: by how the message begins. */
export function relevanceByRule(prompt: string): Relevance {
  const message = prompt.slice(prompt.lastIndexOf("The message:\n") + "The message:\n".length);
  if (ANEW.test(message)) return "restart";
  return LATER.test(message) ? "queue" : "steer";
}
