// Calls of `require` for what is absent. They stay in the code whether or not their result is used, so that it has to be
// known how they are meant: one within `try` is an attempt, and its author has an answer to its failure.

import { readFileSync } from "node:fs";
import { nodesOf, parseModule, type Node } from "./syntax.ts";

export class Requires {
  readonly #asked: Map<string, Set<string>> = new Map();

  add(importer: string, specifier: string): void {
    const asked = this.#asked.get(importer) ?? new Set();
    this.#asked.set(importer, asked.add(specifier));
  }

  has(importer: string, specifier: string): boolean {
    return this.#asked.get(importer)?.has(specifier) === true;
  }

  /** Is every such call of the module within `try`? */
  areTries(importer: string, specifier: string): boolean {
    return [...nodesOf(parseModule(readFileSync(importer, "utf8"), importer))]
      .filter(([node]) => requiredBy(node) === specifier)
      .every(([, isTried]) => isTried);
  }
}

/** What a call of `require` asks for; undefined where the node is none. */
function requiredBy(node: Node): unknown {
  if (node.type !== "CallExpression" || (node["callee"] as { readonly name?: unknown }).name !== "require")
    return undefined;
  return (node["arguments"] as readonly { readonly value?: unknown }[])[0]?.value;
}
