// Talker
// ======
// A system with an agent that answers: one model (OpenAI's chat completions, at the scripted provider), one tool, the same
// instructions. `say` resolves with the answer's text once the turn is over and stored.

export interface Talker {
  readonly name: string;
  start(providerUrl: string): Promise<RunningTalker>;
}

export interface RunningTalker {
  /** Of its processes, so far. */
  cpuMs(): number;
  /** A new conversation. */
  open(): Promise<Conversation>;
  stop(): Promise<void>;
}

export interface Conversation {
  say(text: string): Promise<string>;
  close(): void;
}

/** What the provider's script answers to every question. */
export const ANSWER = "The next high water is at noon.";

export async function post(url: string, body: unknown): Promise<unknown> {
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${text}`);
  return JSON.parse(text);
}
