// Imports of a name that is not written where it is imported: `import(path)`. No bundler can know what they will ask for.

import { nodesOf, parseModule, type Node } from "./syntax.ts";

/** Their lines. */
export function computedImports(code: string, path: string): readonly number[] {
  return [...nodesOf(parseModule(code, path))]
    .filter(([node]) => node.type === "ImportExpression" && !isWritten(node["source"] as Node))
    .map(([node]) => code.slice(0, node.start).split("\n").length);
}

function isWritten(source: Node): boolean {
  if (source.type === "Literal") return true;
  return source.type === "TemplateLiteral" && (source["expressions"] as readonly unknown[]).length === 0;
}
