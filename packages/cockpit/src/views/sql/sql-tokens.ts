// SQL in pieces, for its colours
// ==============================
// S1. The pieces laid together are the text: what is drawn under the letters lies exactly under them.

type TokenKind = "keyword" | "text" | "number" | "comment" | "name" | "other";

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

const KEYWORDS = new Set(
  (
    "all and as asc between by case cast collate cross desc distinct else end escape except exists explain filter " +
    "first following from full glob group groups having in indexed inner intersect is isnull join last left like limit " +
    "match materialized natural not notnull null nulls offset on or order outer over partition plan preceding query " +
    "range recursive regexp right rows select then unbounded union using values when where window with"
  ).split(" "),
);

const TOKEN =
  /(?<comment>--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|(?<text>[xX]?'(?:[^']|'')*(?:'|$))|(?<name>"(?:[^"]|"")*(?:"|$)|`[^`]*(?:`|$)|\[[^\]]*(?:\]|$))|(?<number>\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b)|(?<word>[A-Za-z_]\w*)|(?<other>[\s\S])/g;

export function tokensOf(sql: string): readonly Token[] {
  const tokens: Token[] = [];
  for (const { groups = {}, 0: text } of sql.matchAll(TOKEN)) {
    const kind = kindOf(groups, text);
    const last = tokens.at(-1);
    if (last !== undefined && last.kind === kind && (kind === "other" || kind === "name"))
      tokens[tokens.length - 1] = { kind, text: last.text + text };
    else tokens.push({ kind, text });
  }
  return tokens;
}

function kindOf(groups: Readonly<Record<string, string | undefined>>, text: string): TokenKind {
  for (const kind of ["comment", "text", "name", "number"] as const) if (groups[kind] !== undefined) return kind;
  if (groups["word"] === undefined) return "other";
  return KEYWORDS.has(text.toLowerCase()) ? "keyword" : "name";
}
