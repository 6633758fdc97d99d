// Words as search sees them: small, without endings, and only those that mean something.

const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    "a about above after again all also am an and any are as at be because been before being below between both but by " +
    "can cannot could did do does doing done down during each either else etc even ever every few for from further get " +
    "gets give given go goes had has have having he her here hers him his how however i if in into is it its itself just " +
    "let like made make makes many may me might more most much must my need needs no nor not now of off often on once " +
    "one only or other our out over own per please same say see shall she should since so some such take tell than that " +
    "the their them then there these they thing things this those though through to too under until up upon us use used " +
    "uses using very via was way we well were what whatever when where whether which while who whom whose why will with " +
    "within without would yes yet you your"
  ).split(" "),
);

/** The word without its commonest endings; the same for "retries", "retrying", "retried" and "retry". */
export function stem(word: string): string {
  const small = word.toLowerCase().replace(/['’]s?$/, "");
  if (small.length < 4) return small;
  if (/(?:ies|ied)$/.test(small) && small.length > 4) return `${small.slice(0, -3)}y`;
  for (const ending of ["ings", "ing", "edly", "ed"]) {
    const rest = small.slice(0, -ending.length);
    if (small.endsWith(ending) && rest.length > 2 && /[aeiouy]/.test(rest)) return undouble(rest);
  }
  if (/(?:ss|us|is)$/.test(small)) return small;
  if (/(?:[sxz]|ch|sh)es$/.test(small)) return small.slice(0, -2);
  return small.endsWith("s") ? dropE(small.slice(0, -1)) : dropE(small);
}

/** "stopp" is "stop", but "fall" stays; then as `dropE`. */
function undouble(word: string): string {
  return /([bdgmnprt])\1$/.test(word) ? word.slice(0, -1) : dropE(word);
}

const dropE = (word: string) => (word.length > 4 && word.endsWith("e") ? word.slice(0, -1) : word);

/** What search indexes for a word; null for words that say nothing. */
export function searchTerm(word: string): string | null {
  const small = word.toLowerCase();
  return small.length < 2 || STOP_WORDS.has(small) ? null : stem(small);
}

export function wordsOf(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}]+(?:['’][\p{L}]+)?/gu) ?? [];
}

/** The words of a text that mean something, each once, as they were written, by their terms. */
export function keywordsOf(text: string): ReadonlyMap<string, string> {
  const keywords = new Map<string, string>();
  for (const word of wordsOf(text)) {
    const term = searchTerm(word);
    if (term !== null && !keywords.has(term)) keywords.set(term, word);
  }
  return keywords;
}

/** The distinct terms of a text, in order. */
export const termsOf = (text: string): readonly string[] => [...keywordsOf(text).keys()];
