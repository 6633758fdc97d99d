// The extractive model
// ====================
// What stands in where no language model is configured: it answers the three tasks by rules, from the words of the
// prompt alone. It invents nothing, since it can only quote; the same prompt always gives the same answer. It is a
// provider of the AI SDK like any other, so that the agent runs exactly the code that a language model would.

import { setTimeout } from "node:timers/promises";

import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Prompt } from "@ai-sdk/provider";

import { keywordsOf, termsOf } from "../corpus/words.ts";
import { readMaterial, type Material, type MaterialFinding } from "./material.ts";
import { isRepetition, relevance, sentencesOf, weigh, type Sentence } from "./sentences.ts";
import type { FindingsAnswer, PlanAnswer, ReportAnswer } from "./tasks.ts";

const TOPICS_DEFAULT = 4;
const FINDINGS_MAX = 5;
/** A sentence that says less than this of what is wanted is about something else. */
const SHARE_MIN = 0.25;
const SUMMARY_CLAIMS = 3;

export interface ExtractiveOptions {
  /** How long an answer takes: so that there is something to watch, as with a language model. */
  readonly paceMs: number;
}

export function extractiveModel({ paceMs }: ExtractiveOptions): LanguageModelV4 {
  return {
    specificationVersion: "v4",
    provider: "extractive",
    modelId: "extractive",
    supportedUrls: {},
    async doGenerate(options) {
      if (paceMs > 0) await setTimeout(paceMs, undefined, options.abortSignal ? { signal: options.abortSignal } : {});
      return {
        content: [{ type: "text", text: JSON.stringify(answer(options)) }],
        finishReason: { unified: "stop", raw: undefined },
        usage: {
          inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 0, text: 0, reasoning: 0 },
        },
        warnings: [],
      };
    },
    doStream: () => Promise.reject(new Error("the extractive model does not stream")),
  };
}

function answer(options: LanguageModelV4CallOptions): PlanAnswer | FindingsAnswer | ReportAnswer {
  const task = options.responseFormat?.type === "json" ? options.responseFormat.name : undefined;
  const material = readMaterial(userText(options.prompt));
  if (task === "plan") return plan(material);
  if (task === "findings") return findings(material);
  if (task === "report") return report(material);
  throw new Error(`the extractive model knows the tasks plan, findings and report, not "${task ?? "free text"}"`);
}

function userText(prompt: LanguageModelV4Prompt): string {
  return prompt
    .flatMap((message) => (message.role === "user" ? message.content : []))
    .flatMap((part) => (part.type === "text" ? part.text : []))
    .join("\n");
}

// Plan: the parts of the question, then the headings that speak of it
// --------------------------------------------------------------------

function plan({ question, headings = [], count = TOPICS_DEFAULT }: Material): PlanAnswer {
  const wanted = keywordsOf(question);
  const topics: { title: string; queries: string[] }[] = [];
  const taken: ReadonlySet<string>[] = [];
  const add = (title: string, queries: readonly string[]) => {
    const terms = new Set(termsOf(title));
    if (topics.length >= count || terms.size === 0 || taken.some((other) => overlap(terms, other) > 0.7)) return;
    taken.push(terms);
    topics.push({ title: capital(title), queries: [...new Set(queries)] });
  };
  for (const part of partsOf(question)) add(part, [part]);
  const found = headings.map((heading, at) => {
    const shared = termsOf(heading).filter((term) => wanted.has(term)).length;
    const trail = heading.split(" > ").filter(isSpoken);
    return { trail, shared, score: shared + 1 / (at + 1) };
  });
  found.sort((a, b) => b.score - a.score);
  const enough = Math.min(2, Math.ceil(wanted.size / 3)); // One word in common with a long question says little.
  for (const { trail, shared } of found) {
    const last = trail.at(-1);
    if (last !== undefined && shared >= enough)
      add(topicTitle(trail), [`${[...wanted.values()].join(" ")} ${last}`, trail.join(" ")]);
  }
  if (topics.length === 0) add(question, [question]);
  return { topics };
}

/** The questions within a question: "How are runs stored, and what happens after a crash?" has two. */
function partsOf(question: string): readonly string[] {
  const asks = "how|what|why|when|which|who|where|is|are|can|could|does|do|should";
  return question
    .split(new RegExp(`[?;]\\s*|\\.\\s+|,?\\s+(?:and|or|but)\\s+(?=(?:${asks})\\b)`, "i"))
    .map((part) => part.trim())
    .filter((part) => termsOf(part).length >= 2);
}

/** A heading that people would say: no signature, and not what every document has. */
function isSpoken(heading: string): boolean {
  const isCommon =
    /^(?:introduction|overview|usage|examples?|install(?:ation)?|next steps|api|properties|methods|options)$/i;
  return /^[\p{L}\p{N}][\p{L}\p{N}\s,:'’/&?-]*$/u.test(heading) && !isCommon.test(heading);
}

function topicTitle(trail: readonly string[]): string {
  const first = trail[0] ?? "";
  const last = trail.at(-1) ?? "";
  return trail.length < 2 || last.startsWith(first) ? last : `${first}: ${last}`;
}

const capital = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1);

function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  return [...a].filter((term) => b.has(term)).length / Math.max(1, Math.min(a.size, b.size));
}

// Findings: the sentences that say most about topic and question
// ---------------------------------------------------------------

interface Candidate {
  readonly sentence: Sentence;
  readonly number: number;
  readonly score: number;
}

function findings({ question, topic = "", passages = [] }: Material): FindingsAnswer {
  const keywords = keywordsOf(`${topic} ${question}`);
  const wanted = [...keywords.keys()];
  const sentences = passages.map(({ number, text }) => ({ number, sentences: sentencesOf(text) }));
  const about = new Set(termsOf(topic));
  const weights = new Map(
    [
      ...weigh(
        wanted,
        sentences.flatMap((passage) => passage.sentences),
      ),
    ].map(([term, weight]) => {
      return [term, about.has(term) ? weight : weight / 2] as const; // The topic is the question here.
    }),
  );
  const candidates = sentences.flatMap((passage, rank) =>
    passage.sentences.map((sentence, at): Candidate => {
      const share = relevance(sentence, weights);
      const place = 1 / (1 + rank / 4) + (at === 0 ? 0.3 : 0); // Search's order, and a passage's opening, count too.
      return { sentence, number: passage.number, score: share < SHARE_MIN ? 0 : share * (1 + place) };
    }),
  );
  const chosen: Candidate[] = [];
  for (const candidate of candidates.toSorted((a, b) => b.score - a.score)) {
    if (chosen.length === FINDINGS_MAX || candidate.score === 0) break;
    if (!chosen.some((other) => isRepetition(candidate.sentence, other.sentence))) chosen.push(candidate);
  }
  const said = new Set(chosen.flatMap(({ sentence }) => [...sentence.terms]));
  const open = wanted.flatMap((term) => (said.has(term) ? [] : (keywords.get(term) ?? [])));
  return {
    findings: chosen.map(({ sentence, number }) => ({ claim: sentence.text, passages: [number] })),
    openQueries: open.length > 0 && open.length < wanted.length ? [`${topic} ${open.join(" ")}`] : [],
  };
}

// Report: the claims, topic by topic
// ----------------------------------

function report({ question, findings: found = [] }: Material): ReportAnswer {
  const told = found.filter(({ claim }, at) => found.findIndex((other) => other.claim === claim) === at);
  const topics = [...Map.groupBy(told, ({ topic }) => topic)];
  const best = topics.flatMap(([, findings]) => findings.slice(0, 1)).slice(0, SUMMARY_CLAIMS);
  return {
    title: question,
    summary: best.map(cited).join(" "),
    sections: topics.map(([heading, findings]) => ({
      heading,
      text: findings.map((finding) => `- ${cited(finding)}`).join("\n"),
    })),
  };
}

const cited = ({ claim, sources }: MaterialFinding) => `${claim} ${sources.map((number) => `[${number}]`).join("")}`;
