// Every error code has one class and one page, docs/errors/P0000.md, whose title begins with the code.

import { codeFiles, isTest, lineAt, type Rule, type Tree, type Violation } from "../tree.ts";

const ON_CLASS = /\bstatic\s+(?:override\s+)?readonly\s+code\b[^=;]*=\s*"(P\d{4})"/g;
const IN_TABLE = /\bcode:\s*"(P\d{4})"/g;
const TABLE = "packages/protocol/src/errors.ts";
const PAGES = "docs/errors/";

export const errorPages: Rule = {
  name: "error codes and their pages match",
  check: (tree) => {
    const codes = codesOf(tree);
    const pages = tree.files.filter(({ path }) => path.startsWith(PAGES) && /^P.*\.md$/.test(path.slice(PAGES.length)));
    const pageOf = (code: string) => `${PAGES}${code}.md`;
    const missing = codes
      .filter(({ code }) => !pages.some(({ path }) => path === pageOf(code)))
      .map(({ code, path, line }) => ({ path, line, message: `${code} has no page: write ${pageOf(code)}` }));
    const orphans = pages
      .filter(({ path }) => !codes.some(({ code }) => path === pageOf(code)))
      .map(({ path }) => ({
        path,
        line: 1,
        message: "no error has this code: remove the page, or give the code back",
      }));
    const untitled = pages
      .filter(({ path, text }) => !text.startsWith(`# ${path.slice(PAGES.length, -".md".length)}`))
      .map(({ path }) => ({ path, line: 1, message: "the title begins with the code" }));
    return [...missing, ...orphans, ...untitled, ...duplicates(codes)];
  },
};

interface Code {
  readonly code: string;
  readonly path: string;
  readonly line: number;
}

function codesOf(tree: Tree): readonly Code[] {
  const sources = codeFiles(tree).filter(({ path }) => /^packages\/[^/]+\/src\//.test(path) && !isTest(path));
  return sources.flatMap(({ path, text }) => {
    const patterns = path === TABLE ? [ON_CLASS, IN_TABLE] : [ON_CLASS];
    const matches = patterns.flatMap((pattern) => [...text.matchAll(pattern)]);
    return matches.map((match) => ({ code: match[1] ?? "", path, line: lineAt(text, match.index) }));
  });
}

function duplicates(codes: readonly Code[]): readonly Violation[] {
  return codes
    .filter(({ code }, at) => codes.findIndex((other) => other.code === code) < at)
    .map(({ code, path, line }) => ({ path, line, message: `${code} is taken: a code belongs to one class` }));
}
