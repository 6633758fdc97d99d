// What the tests of agents share: eyes for what an agent kept.

import type { AgentEvent, TranscriptItem } from "perdure";
import type { ScriptedRequest, TestWorld } from "perdure/testing";

export async function transcriptOf(world: TestWorld, service: string, key = "s1"): Promise<TranscriptItem[]> {
  const items = await world.stream({ service, key }, "transcript");
  return items.map(({ payload }) => JSON.parse(String(payload)) as TranscriptItem);
}

export async function eventsOf(world: TestWorld, service: string, key = "s1"): Promise<AgentEvent[]> {
  const items = await world.stream({ service, key }, "events");
  return items.map(({ payload }) => JSON.parse(String(payload)) as AgentEvent);
}

/** The transcript in short: `message "hello"`, `assistant "hi"`, `tool work ok`. */
export async function storyOf(world: TestWorld, service: string, key = "s1"): Promise<string[]> {
  return (await transcriptOf(world, service, key)).map((item) => {
    switch (item.type) {
      case "message":
        return `message "${item.text}"`;
      case "assistant": {
        const said = item.content.map((part) =>
          part.type === "text" ? `"${part.text}"` : part.type === "tool-call" ? part.toolName : part.type,
        );
        return `assistant${item.partial === true ? " (partial)" : ""} ${said.join(" ")}`;
      }
      case "tool":
        return `tool ${item.name} ${item.outcome}`;
      default:
        return item.type;
    }
  });
}

/** The texts of the user's messages in a request. */
export function heard(request: ScriptedRequest): string[] {
  return request.messages.filter(({ role }) => role === "user").flatMap(({ text }) => text.split("\n"));
}
export function valueOf<T>(result: unknown): T {
  const { kind, value } = result as { kind: string; value: string };
  if (kind !== "value") throw new Error(`it has no value: ${JSON.stringify(result)}`);
  return JSON.parse(value) as T;
}
