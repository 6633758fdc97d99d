// The syntax of a module, as far as it is looked at here.

import { parseAst } from "rolldown/parseAst";

export interface Node {
  readonly type: string;
  readonly start: number;
  readonly [key: string]: unknown;
}

export function parseModule(code: string, path: string): Node {
  const lang = /\.[cm]?ts$/.test(path) ? "ts" : path.endsWith(".tsx") ? "tsx" : "jsx";
  return parseAst(code, { lang, sourceType: "unambiguous" }, path) as unknown as Node;
}

/** All nodes below one, each with whether it is within the block of a `try`. */
export function* nodesOf(value: unknown, isTried = false): Generator<readonly [node: Node, isTried: boolean]> {
  if (Array.isArray(value)) for (const item of value) yield* nodesOf(item, isTried);
  else if (typeof value === "object" && value !== null) {
    const node = value as Node;
    if (typeof node.type === "string") yield [node, isTried];
    for (const [key, part] of Object.entries(node))
      yield* nodesOf(part, isTried || (node.type === "TryStatement" && key === "block"));
  }
}
