// protocol, engine and sdk run anywhere: their environment is handed to them. Each ban names what to take instead.

import { importsOf, isNode, lineOf, type Node, syntaxOf, visit } from "../syntax.ts";
import { codeFiles, isTest, type Rule, type TextFile, type Violation } from "../tree.ts";

const TIMERS = "ask for a timer: return an action, or take the Timers port";
/** What the host's global scope offers, and its replacement. */
const GLOBALS: Readonly<Record<string, string>> = {
  Date: "take `now: Instant` as an argument",
  setTimeout: TIMERS,
  setInterval: TIMERS,
  setImmediate: TIMERS,
  clearTimeout: TIMERS,
  clearInterval: TIMERS,
  fetch: "return an action that the host carries out, or take a port",
  process: "take what you need as an argument",
  console: "return it, or take the log as an argument",
  crypto: "take random bytes as an argument",
  performance: "take `now: Instant` as an argument",
  globalThis: "take what you need from it as an argument",
};

const PURE = ["packages/protocol/src/", "packages/engine/src/"];
const NODELESS = [...PURE, "packages/sdk/src/", "packages/agents/src/"];

export const purity: Rule = {
  name: "protocol, engine and sdk have no environment",
  check: (tree) =>
    codeFiles(tree)
      .filter((file) => !isTest(file.path))
      .flatMap((file) => [
        ...(PURE.some((folder) => file.path.startsWith(folder)) ? globalsUsed(file) : []),
        ...(NODELESS.some((folder) => file.path.startsWith(folder)) ? nodeImports(file) : []),
      ]),
};

function nodeImports(file: TextFile): readonly Violation[] {
  return importsOf(file)
    .filter(({ specifier }) => specifier.startsWith("node:"))
    .map(({ specifier, line }) => ({
      path: file.path,
      line,
      message: `${specifier} is banned here: this runs anywhere; declare a port and implement it in packages/host`,
    }));
}

function globalsUsed(file: TextFile): readonly Violation[] {
  const violations: Violation[] = [];
  const bound = boundNames(file);
  visit(syntaxOf(file).program, (node, ancestors) => {
    const used = globalOf(node, ancestors);
    if (used === undefined || bound.has(used.name)) return;
    violations.push({
      path: file.path,
      line: lineOf(file, node),
      message: `${used.name} is banned here: ${used.instead}`,
    });
  });
  return violations;
}

function globalOf(node: Node, ancestors: readonly Node[]): { name: string; instead: string } | undefined {
  const parent = ancestors.at(-1);
  if (node.type === "MemberExpression") {
    const isRandom = nameOf(node["object"]) === "Math" && nameOf(node["property"]) === "random";
    return isRandom ? { name: "Math.random", instead: "take a random source as an argument" } : undefined;
  }
  if (node.type !== "Identifier" || parent === undefined || isLabel(node, parent)) return undefined;
  const name = String(node["name"]);
  const instead = Object.hasOwn(GLOBALS, name) ? GLOBALS[name] : undefined;
  return instead === undefined ? undefined : { name, instead };
}

/** An identifier that only names a member: `x.fetch`, `{ fetch: … }`, `fetch(): void` in a class or an interface. */
function isLabel(node: Node, parent: Node): boolean {
  if (parent["computed"] === true) return false;
  if (parent.type === "MemberExpression") return parent["property"] === node;
  return parent["key"] === node;
}

const nameOf = (value: unknown): string | undefined =>
  isNode(value) ? (value["name"] as string | undefined) : undefined;

/** Names that the file gives to things of its own, which may be the names of globals: a parameter `process`. */
function boundNames(file: TextFile): ReadonlySet<string> {
  const bound = new Set<string>();
  const bind = (pattern: unknown): void => {
    if (!isNode(pattern)) return;
    if (pattern.type === "Identifier") bound.add(String(pattern["name"]));
    const parts = ["properties", "elements"].flatMap((key) => (pattern[key] as readonly unknown[] | undefined) ?? []);
    for (const part of [...parts, pattern["value"], pattern["left"], pattern["argument"], pattern["parameter"]])
      bind(part);
  };
  visit(syntaxOf(file).program, (node) => {
    if (node.type === "VariableDeclarator" || node.type.startsWith("Function")) bind(node["id"]);
    if (node.type === "ImportSpecifier") bind(node["local"]);
    if (Array.isArray(node["params"])) node["params"].forEach(bind);
  });
  for (const name of ["Date", "globalThis"]) bound.delete(name); // Never names for anything else.
  return bound;
}
