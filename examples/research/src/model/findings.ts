// Findings: the sentences of the pages that say most about each topic of a question. Nothing is invented: they are quotes.

import { keywordsOf, termsOf } from "../corpus/words.ts";
import type { Research } from "./conversation.ts";
import type { Finding, Material, Source } from "./material.ts";
import { isRepetition, relevance, sentencesOf, weigh, type Sentence } from "./sentences.ts";

export interface Topic {
  readonly title: string;
  readonly query: string;
}

const FINDINGS_MAX = 5;
/** A sentence that says less than this of what is wanted is about something else. */
const SHARE_MIN = 0.25;
const TOPICS_MAX = 6;
/** Words of the question that go into the search for a refinement of it. */
const CONTEXT_WORDS = 4;

/** The parts of the question, and what was said after it. */
export function topicsOf({ question, focuses }: Pick<Research, "question" | "focuses">): readonly Topic[] {
  const asked = plainRequest(question);
  const parts = partsOf(asked);
  const context = [...keywordsOf(asked).values()].slice(0, CONTEXT_WORDS).join(" ");
  const topics = [
    ...(parts.length > 0 ? parts : [asked]).map((part) => ({ title: capital(part), query: part })),
    ...focuses.map(plainFocus).map((focus) => ({ title: capital(focus), query: `${focus} ${context}` })),
  ];
  const known = topics.filter(({ query }, at) => topics.findIndex((other) => other.query === query) === at);
  return known.filter(({ title }) => termsOf(title).length > 0).slice(-TOPICS_MAX);
}

/** "Forget that, research the lamp" asks for the lamp. */
function plainRequest(text: string): string {
  return text
    .replace(
      /^\W*(?:(?:no|ok(?:ay)?|please),?\s+)*(?:(?:forget|scrap|drop|never ?mind)(?:\s+(?:that|this|it|all that|about it))?[,;.:]?\s*)?(?:(?:instead|then|next|now|start over|start anew)[,;.:]?\s+)?/i,
      "",
    )
    .replace(
      /^(?:please\s+)?(?:research|find out(?: about)?|tell me about|look into|investigate|study|explain)\s+/i,
      "",
    )
    .replace(/[?.!\s]+$/, "")
    .trim();
}

function plainFocus(text: string): string {
  return text
    .replace(
      /^\W*(?:(?:ok(?:ay)?|please),?\s+)*(?:focus on|concentrate on|narrow it (?:down )?to|what about|also|only|but|and|more (?:about|on)|include|prefer)\s+/i,
      "",
    )
    .replace(/[?.!\s]+$/, "")
    .trim();
}

/** The questions within a question: "How are runs stored, and what happens after a crash?" has two. */
function partsOf(question: string): readonly string[] {
  const asks = "how|what|why|when|which|who|where|is|are|can|could|does|do|should";
  return question
    .split(new RegExp(`[?;]\\s*|\\.\\s+|,?\\s+(?:and|or|but)\\s+(?=(?:${asks})\\b)`, "i"))
    .map((part) => part.trim())
    .filter((part) => termsOf(part).length >= 2);
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

export interface Claim {
  readonly topic: string;
  readonly claim: string;
  readonly page: string;
}

interface Candidate {
  readonly sentence: Sentence;
  readonly page: string;
  readonly score: number;
}

/** Each topic's claims, none twice; and what no page has said anything about yet. */
export function findingsOf(
  topics: readonly Topic[],
  pages: Research["pages"],
): { readonly claims: readonly Claim[]; readonly open: readonly string[] } {
  const read = pages.map(({ page, text }) => ({ page, sentences: sentencesOf(text) }));
  const taken: Sentence[] = [];
  const claims: Claim[] = [];
  const open: string[] = [];
  for (const { title } of topics) {
    const found = bestOf(title, read, taken);
    taken.push(...found.map(({ sentence }) => sentence));
    claims.push(...found.map(({ sentence, page }) => ({ topic: title, claim: sentence.text, page })));
    const said = new Set(found.flatMap(({ sentence }) => [...sentence.terms]));
    const keywords = keywordsOf(title);
    const unsaid = [...keywords].filter(([term]) => !said.has(term)).map(([, word]) => word);
    if (unsaid.length > 0 && unsaid.length < keywords.size) open.push(unsaid.join(" "));
  }
  return { claims, open };
}

function bestOf(
  topic: string,
  read: readonly { readonly page: string; readonly sentences: readonly Sentence[] }[],
  taken: readonly Sentence[],
): readonly Candidate[] {
  const weights = weigh(
    termsOf(topic),
    read.flatMap(({ sentences }) => sentences),
  );
  const candidates = read.flatMap(({ page, sentences }, rank) =>
    sentences.map((sentence, at): Candidate => {
      const share = relevance(sentence, weights);
      const place = 1 / (1 + rank / 4) + (at === 0 ? 0.3 : 0); // Search's order, and a passage's opening, count too.
      return { sentence, page, score: share < SHARE_MIN ? 0 : share * (1 + place) };
    }),
  );
  const chosen: Candidate[] = [];
  for (const candidate of candidates.toSorted((a, b) => b.score - a.score)) {
    if (chosen.length === FINDINGS_MAX || candidate.score === 0) break;
    const others = [...taken, ...chosen.map(({ sentence }) => sentence)];
    if (!others.some((other) => isRepetition(candidate.sentence, other))) chosen.push(candidate);
  }
  return chosen;
}

/** Sources are numbered in the order in which the claims use them; what a summary kept comes first. */
export function materialOf(question: string, claims: readonly Claim[], research: Research): Material {
  const { kept } = research;
  const sources: Source[] = [...(kept?.sources ?? [])];
  const headings = new Map(research.pages.map(({ page, heading }) => [page, heading]));
  const numberOf = (page: string): number => {
    const known = sources.find(({ place }) => place === page);
    if (known !== undefined) return known.number;
    const number = Math.max(0, ...sources.map((source) => source.number)) + 1;
    sources.push({ number, place: page, heading: headings.get(page) ?? "" });
    return number;
  };
  const findings: Finding[] = [
    ...(kept?.findings ?? []),
    ...claims.map(({ topic, claim, page }) => ({ topic, claim, sources: [numberOf(page)] })),
  ];
  return { question: plainRequest(question), findings, sources };
}
