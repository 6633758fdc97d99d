// The agents as a whole, on the real engine: memory store, skipped time, a person who answers what waits for one.

import { join } from "node:path";

import type { AgentAnswer, AgentDefinition, AgentEvent, TranscriptItem } from "perdure";
import { TestWorld } from "perdure/testing";
import { vi } from "vitest";

import { lastingFolder, LIGHTHOUSE } from "./folders.ts";

export interface Agents {
  readonly services: readonly AgentDefinition[];
  readonly ledger: string;
  readonly data: string;
}

const corpus = lastingFolder(LIGHTHOUSE);
const data = lastingFolder();

export function removeFolders(): void {
  corpus.remove();
  data.remove();
}

/** The agents with an environment of their own: they read their settings when they are loaded. */
export async function load(env: Readonly<Record<string, string>> = {}): Promise<Agents> {
  const ledger = join(data.folder, "ledger.jsonl");
  const settings = {
    OPENAI_API_KEY: "",
    ANTHROPIC_API_KEY: "",
    RESEARCH_MODEL: "",
    RESEARCH_TOKENS: "",
    RESEARCH_INJECT: "",
    RESEARCH_PACE: "0",
    RESEARCH_LEDGER: ledger,
    RESEARCH_DATA: data.folder,
    RESEARCH_CORPUS: corpus.folder,
    ...env,
  };
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
  vi.resetModules();
  const { researcher, writer } = await import("../src/agent.ts");
  vi.unstubAllEnvs();
  return { services: [researcher, writer], ledger, data: data.folder };
}

export const corpusFolder: string = corpus.folder;

export const session = (key = "demo", handler = "send"): { service: string; key: string; handler: string } => ({
  service: "researcher",
  key,
  handler,
});

/** How a person decides about a question, or undefined where they are away. */
export type Decide = (title: string) => object | undefined;

export const YES: Decide = () => ({ decision: "approved", by: "ada" });

/** Answers open approvals, each once. */
export function person(decide: Decide = YES): (world: TestWorld) => Promise<boolean> {
  return async (world) => {
    for (const { key, status, handler, input } of await world.runs()) {
      if (handler !== "run" || key === null || !["suspended", "running"].includes(status)) continue;
      const { title } = JSON.parse(String(input)) as { readonly title: string };
      const decision = decide(title);
      if (decision === undefined) continue;
      const answer = await world.submit(
        { service: "perdure.approvals", key, handler: "answer" },
        decision,
        `answer ${key}`,
      );
      await world.settle();
      if ((await world.run(answer))?.status === "succeeded" && !answered.has(answer)) {
        answered.add(answer);
        return true;
      }
    }
    return false;
  };
}

const answered = new Set<string>();

export function answerOf(result: unknown): AgentAnswer {
  const { value } = result as { readonly value?: string };
  if (value === undefined) throw new Error(`no answer: ${JSON.stringify(result)}`);
  return JSON.parse(value) as AgentAnswer;
}

export async function transcript(world: TestWorld, service = "researcher", key = "demo"): Promise<TranscriptItem[]> {
  const items = await world.stream({ service, key }, "transcript");
  return items.map(({ payload }) => JSON.parse(String(payload)) as TranscriptItem);
}

export async function events(world: TestWorld, service = "researcher", key = "demo"): Promise<AgentEvent[]> {
  const items = await world.stream({ service, key }, "events");
  return items.map(({ payload }) => JSON.parse(String(payload)) as AgentEvent);
}
