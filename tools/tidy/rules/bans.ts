// Things that are not written here, each with what to write instead.

import { calleeWord, isNode, lineOf, type Node, syntaxOf, visit } from "../syntax.ts";
import { codeFiles, lineAt, type Rule, type TextFile, type Violation } from "../tree.ts";

/** Spelled in two parts, so that this file does not contain them. */
const UNFINISHED = new RegExp(`\\b(?:${["TO" + "DO", "FIX" + "ME", "XX" + "X"].join("|")})\\b`, "g");
const UNCHECKED = new RegExp(`@ts-(?:${["ign" + "ore", "noch" + "eck"].join("|")})\\b`, "g");
/** What makes HTML of a text. Texts come from agents, and whoever they have listened to. */
const HTML_OF_TEXT = new RegExp(
  `\\b(?:${["dangerously" + "SetInnerHTML", "inner" + "HTML", "outer" + "HTML", "insertAdjacent" + "HTML", "document\\.wri" + "te"].join("|")})\\b`,
  "g",
);
const SUITES = new Set(["describe", "suite", "test", "it"]);

export const bans: Rule = {
  name: "nothing unfinished, unchecked or swallowed",
  check: (tree) => codeFiles(tree).flatMap((file) => [...bannedWords(file), ...bannedSyntax(file)]),
};

function bannedWords(file: TextFile): readonly Violation[] {
  const find = (pattern: RegExp, instead: string) =>
    [...file.text.matchAll(pattern)].map((match) => ({
      path: file.path,
      line: lineAt(file.text, match.index),
      message: `${match[0]}: ${instead}`,
    }));
  return [
    ...find(UNFINISHED, "finish it, or write it down as a limitation in the docs"),
    ...find(UNCHECKED, "mend the type, or use @ts-expect-error with a reason"),
    ...find(HTML_OF_TEXT, "show texts as texts, or as Markdown without HTML"),
  ];
}

function bannedSyntax(file: TextFile): readonly Violation[] {
  const violations: Violation[] = [];
  const { program, comments } = syntaxOf(file);
  visit(program, (node) => {
    const message = banOf(node, (start, end) => comments.some((c) => c.start >= start && c.end <= end));
    if (message !== undefined) violations.push({ path: file.path, line: lineOf(file, node), message });
  });
  return violations;
}

function banOf(node: Node, hasComment: (start: number, end: number) => boolean): string | undefined {
  switch (node.type) {
    case "DebuggerStatement":
      return "debugger: remove it";
    case "TSAsExpression":
    case "TSTypeAssertion":
      return isType(node, "TSAnyKeyword") ? "as any: narrow from unknown, or give the type" : undefined;
    case "TSEnumDeclaration":
      return "enum: use a union of strings";
    case "MemberExpression": {
      const isOnly = isNode(node["property"]) && node["property"]["name"] === "only";
      return isOnly && SUITES.has(calleeWord({ ...node, callee: node }) ?? "") ? ".only: remove it" : undefined;
    }
    case "CatchClause": {
      const body = node["body"] as Node;
      const isEmpty = (body["body"] as readonly unknown[]).length === 0 && !hasComment(body.start, body.end);
      return isEmpty ? "empty catch: handle the error, or say in a comment why there is nothing to do" : undefined;
    }
    default:
      return undefined;
  }
}

function isType(node: Node, type: string): boolean {
  return isNode(node["typeAnnotation"]) && node["typeAnnotation"].type === type;
}
