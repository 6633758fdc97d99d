// What a conversation says of the research that is under way: read anew from every prompt, as a language model does
// ==================================================================================================================
// V1. A message after an answer begins another research, unless it reads as a refinement of the one before.
// V2. What was written and published before the newest message does not answer it.

import type { LanguageModelV4Message, LanguageModelV4Prompt, LanguageModelV4ToolResultOutput } from "@ai-sdk/provider";

import { readMaterial, type Material } from "./material.ts";

interface Found {
  readonly page: string;
  readonly heading: string;
}

interface Page extends Found {
  readonly text: string;
}

interface Search {
  readonly query: string;
  readonly hits: readonly Found[];
}

type Outcome = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly why: string };

export interface Research {
  readonly question: string;
  /** What was said after the question. */
  readonly focuses: readonly string[];
  readonly searches: readonly Search[];
  readonly pages: readonly Page[];
  /** Pages were found after the last reading. */
  readonly hasNews: boolean;
  /** The writer's answer to the newest message. */
  readonly report: Outcome | undefined;
  readonly publication: Outcome | undefined;
  /** Of a search or a reading, the newest last. */
  readonly failures: readonly string[];
  /** What a summary of the beginning kept. */
  readonly kept: Material | undefined;
}

/** How often something that fails is tried before the research goes on without it. */
const TRIES_MAX = 2;
const SUMMARY = "What was said and done so far, in short:\n";
const REFINES =
  /^\W*(?:ok(?:ay)?,?\s+)?(?:please\s+)?(?:focus|only|also|but|and|more|go on|continue|what about|narrow|concentrate|ignore|skip|prefer|include|exclude|publish|shorter|longer)\b/i;

/** Undefined where nobody has asked anything. */
export function readResearch(prompt: LanguageModelV4Prompt): Research | undefined {
  const reader = new Reader();
  for (const message of prompt) reader.read(message);
  return reader.research;
}

interface Call {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

class Reader {
  #research: Research | undefined = undefined;
  #kept: Material | undefined = undefined;
  #isAnswered = false;
  readonly #calls: Map<string, Call> = new Map();
  #failed: Map<string, number> = new Map();

  get research(): Research | undefined {
    return this.#research;
  }

  read(message: LanguageModelV4Message): void {
    switch (message.role) {
      case "system":
        return;
      case "user":
        for (const part of message.content) if (part.type === "text") this.#said(part.text);
        return;
      case "assistant": {
        const calls = message.content.filter((part) => part.type === "tool-call");
        for (const { toolCallId, toolName, input } of calls)
          this.#calls.set(toolCallId, { name: toolName, input: Object(input) as Call["input"] });
        if (calls.length === 0) this.#isAnswered = true;
        return;
      }
      case "tool":
        for (const part of message.content)
          if (part.type === "tool-result") this.#did(this.#calls.get(part.toolCallId), outcomeOf(part.output));
    }
  }

  #said(text: string): void {
    if (text.startsWith(SUMMARY)) {
      this.#kept = readMaterial(text);
      if (this.#kept.question !== "") this.#begin(this.#kept.question);
      return;
    }
    const said = text.trim();
    if (said === "") return;
    const research = this.#research;
    if (research === undefined || (this.#isAnswered && !REFINES.test(said))) this.#begin(said);
    else
      this.#research = {
        ...research,
        focuses: [...research.focuses, said],
        report: undefined,
        publication: undefined,
      };
    this.#isAnswered = false;
  }

  #begin(question: string): void {
    this.#failed = new Map();
    this.#research = {
      question,
      focuses: [],
      searches: [],
      pages: [],
      hasNews: false,
      report: undefined,
      publication: undefined,
      failures: [],
      kept: this.#kept,
    };
    this.#kept = undefined; // The next question has nothing to do with it.
  }

  #did(call: Call | undefined, outcome: Outcome): void {
    const research = this.#research;
    if (research === undefined || call === undefined) return;
    switch (call.name) {
      case "search": {
        const query = String(call.input["query"]);
        if (!outcome.ok && !this.#givesUp(query, outcome.why)) return;
        const hits = outcome.ok ? (outcome.value as readonly Found[]) : [];
        this.#research = {
          ...(this.#research ?? research),
          searches: [...research.searches, { query, hits }],
          hasNews: research.hasNews || hits.length > 0,
        };
        return;
      }
      case "read_page": {
        if (!outcome.ok && !this.#givesUp("read_page", outcome.why)) return;
        const pages = outcome.ok ? (outcome.value as readonly Page[]) : [];
        this.#research = { ...(this.#research ?? research), pages: [...research.pages, ...pages], hasNews: false };
        return;
      }
      case "delegate":
        this.#research = { ...research, report: outcome };
        return;
      case "publish":
        this.#research = { ...research, publication: outcome };
    }
  }

  /** A failure is noted; the last one counts as a result. */
  #givesUp(what: string, why: string): boolean {
    const times = (this.#failed.get(what) ?? 0) + 1;
    this.#failed.set(what, times);
    if (this.#research !== undefined)
      this.#research = { ...this.#research, failures: [...this.#research.failures, why] };
    return times >= TRIES_MAX;
  }
}

function outcomeOf(output: LanguageModelV4ToolResultOutput): Outcome {
  switch (output.type) {
    case "text":
    case "json":
    case "content":
      return { ok: true, value: output.value };
    case "error-text":
    case "error-json":
      return { ok: false, why: typeof output.value === "string" ? output.value : JSON.stringify(output.value) };
    case "execution-denied":
      return { ok: false, why: output.reason ?? "it was denied" };
  }
}
