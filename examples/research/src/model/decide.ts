// What the extractive model does next: by rules, from what the conversation says and nothing else
// ===============================================================================================
//   search ─▶ read ─▶ (search again for what is open) ─▶ delegate ─▶ publish ─▶ answer
//
// The same prompt always gets the same reply. A message that comes in between is one more topic: it is searched for and
// read about, and the report is written anew.

import type { LanguageModelV4Prompt } from "@ai-sdk/provider";

import { readResearch, type Research } from "./conversation.ts";
import { findingsOf, materialOf, topicsOf } from "./findings.ts";
import { writeMaterial } from "./material.ts";
import { openingOf, sourcesIn } from "./writing.ts";

export interface Reply {
  readonly reasoning?: string;
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly input: object }[];
}

const SEARCHES_AT_ONCE = 3;
/** Searches for what the first ones left open. */
const SECOND_SEARCHES_MAX = 2;
const READ_MAX = 8;

export function nextStep(prompt: LanguageModelV4Prompt): Reply {
  const research = readResearch(prompt);
  const topics = research === undefined ? [] : topicsOf(research);
  if (research === undefined || topics.length === 0)
    return { text: "Ask me something that the documents may answer: I search them, and quote what they say." };

  const searched = new Set(research.searches.map(({ query }) => query));
  const wanted = topics.map(({ query }) => query).filter((query) => !searched.has(query));
  if (wanted.length > 0) return search(wanted);
  const pages = unread(research);
  if (research.hasNews && pages.length > 0)
    return {
      reasoning: `${pages.length} pages look good: reading them.`,
      calls: [{ name: "read_page", input: { pages } }],
    };

  const { claims, open } = findingsOf(topics, research.pages);
  const further = open.map((words) => `${words} ${topics[0]?.title ?? ""}`).filter((query) => !searched.has(query));
  const isFirst = research.searches.length < topics.length + SECOND_SEARCHES_MAX;
  if (isFirst && further.length > 0 && claims.length > 0)
    return search(further.slice(0, 1), `${claims.length} findings; open is: ${open.join(", ")}. `);

  const material = materialOf(research.question, claims, research);
  if (material.findings.length === 0) return { text: nothingFound(research) };
  if (research.report === undefined)
    return {
      reasoning: `${material.findings.length} findings from ${material.sources.length} pages: the writer can begin.`,
      calls: [{ name: "delegate", input: { task: writeMaterial(material) } }],
    };
  if (!research.report.ok) return { text: `The report could not be written: ${research.report.why}` };
  return publishOrAnswer(research, String(research.report.value));
}

function search(queries: readonly string[], why = ""): Reply {
  const now = queries.slice(0, SEARCHES_AT_ONCE);
  return {
    reasoning: `${why}Searching for ${now.map((query) => `"${query}"`).join(", ")}.`,
    calls: now.map((query) => ({ name: "search", input: { query } })),
  };
}

function nothingFound({ failures }: Research): string {
  const why = failures.at(-1);
  if (why !== undefined) return `I could not look: ${why}`;
  return "The documents say nothing about this, so there is nothing to publish.";
}

function publishOrAnswer({ publication }: Research, report: string): Reply {
  const { title, summary } = openingOf(report);
  if (publication === undefined)
    return {
      reasoning: "The report is written: publishing it, if that is allowed.",
      calls: [{ name: "publish", input: { title, markdown: report } }],
    };
  const { file } = (publication.ok ? publication.value : {}) as { readonly file?: string };
  if (!publication.ok)
    return { text: `The report is not published: ${publication.why}\n\nThis is what it says:\n\n${report}` };
  return { text: `${summary}\n\nSources:\n\n${sourcesIn(report)}\n\nThe report is published: ${file ?? ""}` };
}

/** The pages that the searches rank best together (by the sum of 1 / rank), without those that were read. */
function unread({ searches, pages }: Research): readonly string[] {
  const scores = new Map<string, number>();
  for (const { hits } of searches)
    hits.forEach(({ page }, at) => scores.set(page, (scores.get(page) ?? 0) + 1 / (at + 1)));
  for (const { page } of pages) scores.delete(page);
  return [...scores]
    .sort(([, a], [, b]) => b - a)
    .slice(0, READ_MAX)
    .map(([page]) => page);
}

/** What a conversation comes to, for whoever goes on from that alone. */
export function summarize(prompt: LanguageModelV4Prompt): string {
  const research = readResearch(prompt);
  if (research === undefined) return "";
  const { claims } = findingsOf(topicsOf(research), research.pages);
  return writeMaterial(materialOf([research.question, ...research.focuses].join(". "), claims, research));
}
