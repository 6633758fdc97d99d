// Reports: what is published cites what is there
// ==============================================
// R1. Every citation in the text, [3], has a source with that number.
// R2. Every source leads to a page of the documents.

const SOURCES = /^## Sources\s*$/m;
/** Models also write [1, 2] for [1][2]. A link's text is none. */
const CITATION = /\[(\d+(?:\s*[,;]\s*\d+)*)\](?!\()/g;

/** What is wrong with a report, in words for whoever wrote it. */
export function problemsOf(markdown: string, isPage: (page: string) => boolean): readonly string[] {
  const [body = "", list] = markdown.split(SOURCES, 2);
  const cited = citationsIn(body);
  if (list === undefined) return cited.length === 0 ? [] : ['it cites sources and has no section "## Sources"'];
  const sources = sourcesIn(list);
  const unknown = cited.filter((number) => !sources.has(number));
  return [
    ...(unknown.length === 0 ? [] : [`it cites ${unknown.map((n) => `[${n}]`).join("")}, which is no source of it`]),
    ...[...sources].flatMap(([number, page]) =>
      isPage(page) ? [] : [`source ${number} is \`${page}\`, and there is no such page`],
    ),
  ];
}

function citationsIn(text: string): readonly number[] {
  const numbers = [...text.matchAll(CITATION)].flatMap(([, list = ""]) => list.split(/[,;]/).map(Number));
  return [...new Set(numbers)];
}

/** Places by their numbers, from lines such as "2. `a.md:7` Heading". */
function sourcesIn(list: string): ReadonlyMap<number, string> {
  return new Map(
    [...list.matchAll(/^\s*(\d+)\.\s+`([^`]+)`/gm)].map(([, number, page = ""]) => [Number(number), page]),
  );
}
