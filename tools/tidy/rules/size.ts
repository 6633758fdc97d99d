// Files hold one idea, functions one step: at most 600 and 70 lines.

import { calleeWord, isNode, lineOf, type Node, nodesOf, visit } from "../syntax.ts";
import { codeFiles, lineAt, type Rule, type TextFile, type Violation } from "../tree.ts";

const FILE_LINES_MAX = 600;
const FUNCTION_LINES_MAX = 70;
const FUNCTIONS = ["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"];
const SUITES = new Set(["describe", "suite", "test", "it"]);

export const fileSize: Rule = {
  name: "a file has at most 600 lines",
  check: (tree) =>
    codeFiles(tree).flatMap((file) => {
      const lines = file.text.trimEnd().split("\n").length;
      if (lines <= FILE_LINES_MAX) return [];
      return [{ path: file.path, line: FILE_LINES_MAX + 1, message: `${lines} lines: split it by idea` }];
    }),
};

export const functionSize: Rule = {
  name: "a function has at most 70 lines",
  check: (tree) => codeFiles(tree).flatMap(longFunctions),
};

function longFunctions(file: TextFile): readonly Violation[] {
  const callbacks = suiteCallbacks(file);
  return nodesOf(file, ...FUNCTIONS).flatMap((node) => {
    const lines = linesOf(file, node) - nestedLines(file, node, callbacks);
    if (lines <= FUNCTION_LINES_MAX) return [];
    return [{ path: file.path, line: lineOf(file, node), message: `a function of ${lines} lines: split it by step` }];
  });
}

const linesOf = (file: TextFile, node: Node) => lineAt(file.text, node.end) - lineOf(file, node) + 1;

/** Callbacks of describe() and test(): measured on their own, not as a part of what surrounds them. */
function suiteCallbacks(file: TextFile): ReadonlySet<Node> {
  const callbacks = new Set<Node>();
  for (const call of nodesOf(file, "CallExpression")) {
    if (!SUITES.has(calleeWord(call) ?? "")) continue;
    for (const argument of call["arguments"] as readonly unknown[]) {
      if (isNode(argument) && FUNCTIONS.includes(argument.type)) callbacks.add(argument);
    }
  }
  return callbacks;
}

function nestedLines(file: TextFile, outer: Node, callbacks: ReadonlySet<Node>): number {
  let lines = 0;
  visit(outer, (node, ancestors) => {
    const isOutermost =
      node !== outer && callbacks.has(node) && !ancestors.some((a) => a !== outer && callbacks.has(a));
    if (isOutermost) lines += linesOf(file, node) - 1; // The line it begins on stays with its surroundings.
  });
  return lines;
}
