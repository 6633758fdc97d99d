// Markdown: one title a file, and links that lead somewhere.

import { resolveRelative } from "../syntax.ts";
import { isFixture, type Rule, type TextFile, type Tree } from "../tree.ts";

interface Line {
  readonly text: string;
  readonly number: number;
}

/** Markdown that others read by their own rules: no title. */
const UNTITLED = /^\.(?:changeset|github)\//;

const markdownFiles = (tree: Tree) => tree.files.filter(({ path }) => path.endsWith(".md") && !isFixture(path));

export const oneTitle: Rule = {
  name: "a Markdown file has exactly one title",
  check: (tree) =>
    markdownFiles(tree)
      .filter(({ path }) => !UNTITLED.test(path))
      .flatMap((file) => {
        const titles = proseLines(file.text).filter(({ text }) => text.startsWith("# "));
        if (titles.length === 1) return [];
        const message = titles.length === 0 ? "no title: begin with `# `" : "a second title: use `## `";
        return [{ path: file.path, line: titles[1]?.number ?? 1, message }];
      }),
};

export const links: Rule = {
  name: "relative links in Markdown lead somewhere",
  check: (tree) =>
    markdownFiles(tree).flatMap((file) =>
      proseLines(file.text).flatMap(({ text, number }) =>
        targetsIn(text)
          .filter((target) => !leadsSomewhere(tree, file, target))
          .map((target) => ({ path: file.path, line: number, message: `${target} leads nowhere` })),
      ),
    ),
};

/** The lines outside of fenced code and comments. */
function proseLines(text: string): readonly Line[] {
  let fence: string | undefined;
  return text.split("\n").flatMap((line, at) => {
    const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark !== undefined && mark[0] === fence[0] && mark.length >= fence.length) fence = undefined;
      return [];
    }
    fence = mark;
    return mark === undefined ? [{ text: line, number: at + 1 }] : [];
  });
}

function targetsIn(line: string): readonly string[] {
  const prose = line.replaceAll(/(`+)[^`]*\1/g, "");
  const inline = [...prose.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g)];
  const references = [...prose.matchAll(/^\s{0,3}\[[^\]]+\]:\s*<?(\S+?)>?(?:\s|$)/g)];
  const html = [...prose.matchAll(/\b(?:href|src)="([^"]+)"/g)];
  return [...inline, ...references, ...html]
    .map((match) => match[1] ?? "")
    .filter((target) => !/^[a-z][a-z0-9+.-]*:|^\/\//i.test(target));
}

function leadsSomewhere(tree: Tree, file: TextFile, target: string): boolean {
  const [path = "", anchor] = target.split("#", 2);
  if (path.startsWith("/")) return false; // Means another thing on each host that shows it.
  const resolved = path === "" ? file.path : decodeURIComponent(resolveRelative(file.path, path)).replace(/\/$/, "");
  if (resolved !== "" && !tree.exists(resolved)) return false;
  if (anchor === undefined || anchor === "" || !resolved.endsWith(".md")) return true;
  const text = tree.files.find((other) => other.path === resolved)?.text ?? "";
  return anchorsOf(text).has(decodeURIComponent(anchor));
}

/** Anchors as GitHub makes them from headings, and those written as HTML. */
function anchorsOf(text: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const line of proseLines(text)) {
    const heading = /^#{1,6}\s+(.*?)\s*#*$/.exec(line.text)?.[1];
    if (heading !== undefined) addSlug(anchors, slug(heading));
    for (const match of line.text.matchAll(/\b(?:id|name)="([^"]+)"/g)) anchors.add(match[1] ?? "");
  }
  return anchors;
}

function slug(heading: string): string {
  const words = heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll("`", "")
    .toLowerCase();
  return words.replaceAll(/[^\p{L}\p{N}\p{M}\p{Pc}\- ]/gu, "").replaceAll(" ", "-");
}

function addSlug(anchors: Set<string>, base: string): void {
  let candidate = base;
  for (let count = 1; anchors.has(candidate); count += 1) candidate = `${base}-${count}`;
  anchors.add(candidate);
}
