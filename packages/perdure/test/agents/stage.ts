// What the agents of `cast.ts` meet outside, on the host: a model that plays what the test says, and hands that leave traces.

"use host";

import { join } from "node:path";
import { mcpTools, type ToolInfo, type ToolSource } from "perdure";
import { scriptedModel, type Script } from "perdure/testing";

let script: Script = () => "";

/** What the model plays from now on. */
export function play(next: Script): void {
  script = next;
}

export const model = scriptedModel((request, seen) => script(request, seen));

/** The tools of a server that is a program. */
export const notes: ToolSource = mcpTools("notes", {
  command: process.execPath,
  args: [join(import.meta.dirname, "mcp-server.ts")],
});

/** What was done to the world. */
export const traces: string[] = [];

export function publish({ title }: { readonly title: string }): string {
  traces.push(title);
  return `published ${title}`;
}

export function longText(): string {
  return `${"a".repeat(900)}the middle${"b".repeat(900)}`;
}

/** Tells all that its info says. */
export function inspect({ word }: { readonly word: string }, info: ToolInfo): object {
  const { toolCallId, idempotencyKey, attempt, abortSignal } = info;
  info.progress({ half: word });
  traces.push(idempotencyKey);
  if (attempt < 2) throw new Error("the first try fails");
  return { word, toolCallId, idempotencyKey, attempt, aborted: abortSignal.aborted };
}

/** Gives what it has so far, and last its result. */
export async function* count({ to }: { readonly to: number }): AsyncGenerator<number> {
  for (let number = 1; number <= to; number += 1) yield number;
}

/** Waits until it is stopped. */
export function hang(_input: object, { abortSignal }: ToolInfo): Promise<never> {
  traces.push("begun");
  return new Promise((_, reject) => {
    abortSignal.addEventListener("abort", () => {
      traces.push("stopped");
      reject(abortSignal.reason as Error);
    });
  });
}
