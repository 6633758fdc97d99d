// HTML as Markdown-like text, line for line: what stood on line 12 stands on line 12, so that citations hold.

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  mdash: "-",
  ndash: "-",
  hellip: "...",
};

export function htmlToText(html: string): string {
  return html
    .replaceAll(/<!--[\s\S]*?-->|<(script|style|svg|head|template)\b[\s\S]*?<\/\1\s*>/gi, onlyBreaks)
    .replaceAll(/<h([1-6])\b[^>]*>([\s\S]*?)<\/h\1\s*>/gi, (match, depth: string, words: string) => {
      const heading = words
        .replaceAll(/<[^>]*>/g, "")
        .replaceAll(/\s+/g, " ")
        .trim();
      return `${"#".repeat(Number(depth))} ${heading}${onlyBreaks(match)}`;
    })
    .replaceAll(/<li\b[^>]*>/gi, (match) => `${onlyBreaks(match)}- `)
    .replaceAll(/<\/?[a-z][^>]*>|<![^>]*>/gi, onlyBreaks)
    .replaceAll(/&(#x?[\da-f]+|\w+);/gi, (match, name: string) => entity(name) ?? match)
    .split("\n")
    .map((line) => line.trim())
    .join("\n");
}

const onlyBreaks = (text: string) => text.replaceAll(/[^\n]/g, "");

function entity(name: string): string | undefined {
  if (!name.startsWith("#")) return ENTITIES[name.toLowerCase()];
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number.parseInt(name.slice(1), 10);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}
