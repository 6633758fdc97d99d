// Sentences: prose taken out of Markdown, and ranked by how much it says about some terms.

import { termsOf } from "../corpus/words.ts";

export interface Sentence {
  readonly text: string;
  readonly terms: ReadonlySet<string>;
}

const CHARS_MIN = 40;
const CHARS_MAX = 360;

/** The sentences of a passage, without code, tables, pictures and headings. */
export function sentencesOf(markdown: string): readonly Sentence[] {
  return blocksOf(markdown)
    .flatMap((block) =>
      block.split(/(?<=[.!?]["')\]]?)(?<!\b(?:e\.g|i\.e|etc|vs|cf|approx|no)\.)\s+(?=["'(`[]?[A-Z\d])/),
    )
    .map(tidy)
    .filter(isProse)
    .map((text) => ({ text: closed(text), terms: new Set(termsOf(text)) }));
}

/** Paragraphs and list items, each on one line. */
function blocksOf(markdown: string): readonly string[] {
  const prose = markdown
    .replaceAll(/^ {0,3}(`{3,}|~{3,})[\s\S]*?(?:^ {0,3}\1|$(?![\s\S]))/gm, "\n")
    .replaceAll(/^(?: {4}|\t).*$/gm, (line) => (/^\s+(?:[-*+]|\d+\.)\s/.test(line) ? line.trim() : ""))
    .replaceAll(/^\s*(?:\||#{1,6}\s|import\s|export\s|:::|\{\/\*).*$/gm, "")
    .replaceAll(/^\s*\[[^\]]+\]:\s.*$/gm, "");
  const blocks: string[] = [];
  let isOpen = false;
  for (const line of prose.split("\n")) {
    const item = /^\s*(?:>\s*)?(?:[-*+]|\d+[.)])\s+(.*)$/.exec(line)?.[1];
    const text = (item ?? line).replace(/^\s*>\s?/, "").trim();
    if (text !== "" && isOpen && item === undefined) blocks.push(`${blocks.pop() ?? ""} ${text}`);
    else if (text !== "") blocks.push(text);
    isOpen = text !== "";
  }
  return blocks;
}

function tidy(sentence: string): string {
  return sentence
    .replaceAll(/!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])/g, "")
    .replaceAll(/\[((?:[^[\]]|\[[^\]]*\])*)\](?:\([^)]*\)|\[[^\]]*\])/g, "$1")
    .replaceAll(/`[^`]*`|<\/?[A-Za-z][^>]*>/g, (match) => (match.startsWith("`") ? match : ""))
    .replaceAll(/\*\*([^*]+)\*\*|__([^_]+)__/g, "$1$2")
    .replaceAll(/(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])/g, "$1")
    .replaceAll(/\[!\w+\]/g, "")
    .replaceAll(/\[(\d+)\]/g, "($1)") // Would look like a citation of ours.
    .replaceAll(/\s+/g, " ")
    .trim();
}

function isProse(text: string): boolean {
  if (text.length < CHARS_MIN || text.length > CHARS_MAX || /:$|[{}=]|https?:/.test(text)) return false;
  const letters = text.replaceAll(/[^\p{L}\s]/gu, "").length;
  return letters / text.length > 0.8 && text.split(" ").length >= 6;
}

const closed = (text: string) => (/[.!?]["')]?$/.test(text) ? text : `${text.replace(/[;,]$/, "")}.`);

/** A weight for each wanted term: the rarer it is among the sentences, the more it says. */
export function weigh(wanted: readonly string[], sentences: readonly Sentence[]): ReadonlyMap<string, number> {
  return new Map(
    wanted.map((term) => {
      const count = sentences.filter(({ terms }) => terms.has(term)).length;
      return [term, Math.log(1 + sentences.length / Math.max(1, count))];
    }),
  );
}

/** Which share of what is wanted a sentence says, from 0 to 1; a little less for a long one. */
export function relevance(sentence: Sentence, weights: ReadonlyMap<string, number>): number {
  let said = 0;
  let wanted = 0;
  for (const [term, weight] of weights) {
    wanted += weight;
    if (sentence.terms.has(term)) said += weight;
  }
  return wanted === 0 ? 0 : said / wanted / (1 + Math.max(0, sentence.text.length - 160) / 400);
}

/** Do two sentences say nearly the same? */
export function isRepetition(a: Sentence, b: Sentence): boolean {
  const common = [...a.terms].filter((term) => b.terms.has(term)).length;
  return common / Math.max(1, Math.min(a.terms.size, b.terms.size)) > 0.65;
}
