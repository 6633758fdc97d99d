// Calls of `require` for what is absent. They stay in the code whether or not their result is used, so that it has to be
// known how they are meant: one within `try` is an attempt, and its author has an answer to its failure.

import { readFileSync } from "node:fs";
import { parseAst } from "rolldown/parseAst";

interface Node {
  readonly type: string;
  readonly [key: string]: unknown;
}

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
    const calls = requiresIn(parseAst(readFileSync(importer, "utf8"), { sourceType: "unambiguous" }, importer), false);
    return calls.filter((call) => call.specifier === specifier).every((call) => call.isTried);
  }
}

interface RequireCall {
  readonly specifier: unknown;
  readonly isTried: boolean;
}

function requiresIn(value: unknown, isTried: boolean): readonly RequireCall[] {
  if (Array.isArray(value)) return value.flatMap((item) => requiresIn(item, isTried));
  if (typeof value !== "object" || value === null) return [];
  const node = value as Node;
  const own = node.type === "CallExpression" ? requireCall(node, isTried) : [];
  const parts = Object.entries(node).flatMap(([key, part]) =>
    requiresIn(part, isTried || (node.type === "TryStatement" && key === "block")),
  );
  return [...own, ...parts];
}

function requireCall(node: Node, isTried: boolean): readonly RequireCall[] {
  const callee = node["callee"] as { readonly name?: unknown };
  const [first] = node["arguments"] as readonly { readonly value?: unknown }[];
  return callee.name === "require" ? [{ specifier: first?.value, isTried }] : [];
}
