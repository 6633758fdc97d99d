// The research example with a scripted provider in its model's place. What an agent does is said to it in words, so that a test
// reads like a conversation; whoever needs more brings a script of their own.

import { fileURLToPath } from "node:url";
import type { Script, ScriptedProvider, ScriptedRequest } from "perdure/testing";

/** A few: by default it reads all documents of all packages that are installed. */
const DOCUMENTS: string = fileURLToPath(new URL("../../../../docs/design", import.meta.url));

export function scriptedModelEnv(provider: ScriptedProvider): Readonly<Record<string, string>> {
  return {
    RESEARCH_MODEL: "openai/scripted",
    OPENAI_API_KEY: "none is needed",
    OPENAI_BASE_URL: provider.openaiBaseUrl,
    RESEARCH_CORPUS: DOCUMENTS,
  };
}

const REPORT = {
  title: "Lamps",
  markdown:
    "# Lamps\n\n- They are lit at dusk.\n- They are put out at dawn.\n\n| lamp | lit |\n| --- | --- |\n| north | yes |\n",
};

export const lastSaid = ({ messages }: Pick<ScriptedRequest, "messages">): string =>
  messages.findLast(({ role }) => role === "user")?.text ?? "";

/**
 * `publish` asks a person, `delegate` hands on to the writer, `search` looks something up; all else is echoed. What comes while
 * it is at work steers it.
 */
export const obedient: Script = ({ messages }) => {
  const said = lastSaid({ messages });
  if (said.includes("The message:\n")) return JSON.stringify({ relevance: "steer" });
  const hasActed = messages
    .slice(messages.findLastIndex(({ role }) => role === "user"))
    .some(({ role }) => role === "tool");
  if (hasActed) return `Done: ${said}`;
  if (said.includes("publish")) return { text: "I ask first.", toolCalls: [{ name: "publish", input: REPORT }] };
  if (said.includes("delegate")) return { toolCalls: [{ name: "delegate", input: { task: "Write about lamps." } }] };
  if (said.includes("search")) return { toolCalls: [{ name: "search", input: { query: "lamps" } }] };
  return { text: `You said: ${said}` };
};
