// A test is found by its name: within a file no two tests have the same one.

import { calleeWord, isNode, lineOf, literalText, type Node, syntaxOf, visit } from "../syntax.ts";
import { codeFiles, isTest, type Rule, type TextFile, type Violation } from "../tree.ts";

export const testNames: Rule = {
  name: "test names are unique within a file",
  check: (tree) =>
    codeFiles(tree)
      .filter(({ path }) => isTest(path))
      .flatMap(repeatedNames),
};

function repeatedNames(file: TextFile): readonly Violation[] {
  const seen = new Set<string>();
  const violations: Violation[] = [];
  visit(syntaxOf(file).program, (node, ancestors) => {
    const title = titleOf(node, "test", "it");
    if (title === undefined) return;
    const suites = ancestors.flatMap((ancestor) => titleOf(ancestor, "describe", "suite") ?? []);
    const name = [...suites, title].join(" > ");
    if (seen.has(name))
      violations.push({ path: file.path, line: lineOf(file, node), message: `a second test named "${name}"` });
    seen.add(name);
  });
  return violations;
}

/** The literal title of a call that declares a test or a suite. */
function titleOf(node: Node, ...words: readonly string[]): string | undefined {
  if (node.type !== "CallExpression" || !words.includes(calleeWord(node) ?? "")) return undefined;
  const [title, ...others] = node["arguments"] as readonly unknown[];
  const declares = others.some((argument) => isNode(argument) && argument.type.includes("Function"));
  return declares ? literalText(title) : undefined;
}
