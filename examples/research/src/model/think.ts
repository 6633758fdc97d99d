// One model call: a task in, an answer in the task's form out.

import { generateText, Output } from "ai";

import type { ChosenModel } from "./choose.ts";
import type { Task } from "./tasks.ts";

export interface Thought<T> {
  readonly answer: T;
  /** Who answered. */
  readonly model: string;
  /** Absent where the model does not tell. */
  readonly tokens?: number;
}

export interface Call {
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
}

/** Without retries of its own: whoever keeps the journal also keeps the count. */
export async function think<T>({ model, label }: ChosenModel, task: Task<T>, call: Call): Promise<Thought<T>> {
  const { output, usage } = await generateText({
    model,
    instructions: task.instructions,
    prompt: task.prompt,
    output: Output.object({ name: task.name, schema: task.answer }),
    maxRetries: 0,
    abortSignal: call.signal,
    headers: { "idempotency-key": call.idempotencyKey },
  });
  const tokens = usage.totalTokens;
  return tokens === undefined ? { answer: output, model: label } : { answer: output, model: label, tokens };
}
