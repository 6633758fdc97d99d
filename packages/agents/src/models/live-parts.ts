// What a model says, as it says it: written to a stream from within the step that asks, so that watchers need not wait until
// the answer is settled. Each try stands under its own number, and supersedes the ones before.

import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { StepInfo } from "@perdure/sdk";
import type { AgentEvent } from "../agent/events.ts";
import type { LivePlace } from "./model-ask.ts";
import type { AttemptOutcome, ModelAttempt } from "./types.ts";

export type CallEvent = Extract<AgentEvent, { readonly type: "call-start" | "part" | "call-end" }>;

/** What of a provider's stream is for watchers. */
const SHOWN: ReadonlySet<LanguageModelV4StreamPart["type"]> = new Set([
  "text-start",
  "text-delta",
  "text-end",
  "reasoning-start",
  "reasoning-delta",
  "reasoning-end",
  "tool-input-start",
  "tool-input-delta",
  "tool-input-end",
  "tool-call",
  "tool-result",
  "file",
  "source",
]);

export class LiveParts {
  readonly #call: string;
  readonly #info: StepInfo;
  readonly #write: (event: CallEvent) => void;
  readonly #showsParts: boolean;
  #begun = "";

  constructor({ call, stream: name, showsParts }: LivePlace, info: StepInfo) {
    this.#call = call;
    this.#info = info;
    this.#showsParts = showsParts;
    const stream = info.stream<CallEvent>(name);
    this.#write = (event) => stream.write(event);
  }

  part(part: LanguageModelV4StreamPart, attempt: ModelAttempt): void {
    if (!SHOWN.has(part.type)) return;
    const number = this.#begin(attempt);
    if (this.#showsParts) this.#write({ type: "part", call: this.#call, attempt: number, part });
  }

  end(attempt: ModelAttempt, outcome: AttemptOutcome): void {
    const number = this.#begin(attempt);
    const cause = outcome.kind === "failed" ? { error: outcome.error.message } : {};
    this.#write({ type: "call-end", call: this.#call, attempt: number, outcome: outcome.kind, ...cause });
  }

  /** `<try of the step>.<try of the gateway>` */
  #begin({ number, provider, modelId }: ModelAttempt): string {
    const attempt = `${this.#info.attempt}.${number}`;
    if (attempt !== this.#begun) {
      this.#begun = attempt;
      this.#write({ type: "call-start", call: this.#call, attempt, model: `${provider}/${modelId}` });
    }
    return attempt;
  }
}
