// What the rules need to know about a source file, from the parser that Vite brings along.

import { parseSync } from "vite";

import { lineAt, type TextFile } from "./tree.ts";

export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

interface Comment {
  readonly value: string;
  readonly start: number;
  readonly end: number;
}

export interface Syntax {
  readonly program: Node;
  readonly comments: readonly Comment[];
}

export interface Import {
  readonly specifier: string;
  readonly line: number;
}

const parsed = new WeakMap<TextFile, Syntax>();

export function syntaxOf(file: TextFile): Syntax {
  const known = parsed.get(file);
  if (known !== undefined) return known;
  const result = parseSync(file.path, file.text);
  if (result.errors.length > 0) throw new Error(`${file.path} cannot be parsed: ${result.errors[0]?.message}`);
  const syntax = { program: result.program as unknown as Node, comments: result.comments };
  parsed.set(file, syntax);
  return syntax;
}

export function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as Node).type === "string";
}

/** Visits every node, parents first; `ancestors` ends with the direct parent. */
export function visit(root: Node, visitor: (node: Node, ancestors: readonly Node[]) => void): void {
  const ancestors: Node[] = [];
  const step = (node: Node): void => {
    visitor(node, ancestors);
    ancestors.push(node);
    for (const value of Object.values(node)) {
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) step(child);
    }
    ancestors.pop();
  };
  step(root);
}

export function nodesOf(file: TextFile, ...types: readonly string[]): readonly Node[] {
  const found: Node[] = [];
  visit(syntaxOf(file).program, (node) => {
    if (types.includes(node.type)) found.push(node);
  });
  return found;
}

export const lineOf = (file: TextFile, node: { readonly start: number }): number => lineAt(file.text, node.start);

/** The value of a literal string, also one written as a template without holes. */
export function literalText(value: unknown): string | undefined {
  if (!isNode(value)) return undefined;
  if (value.type === "Literal" && typeof value["value"] === "string") return value["value"];
  if (value.type !== "TemplateLiteral" || (value["expressions"] as unknown[]).length > 0) return undefined;
  const [quasi] = value["quasis"] as readonly { readonly value: { readonly cooked: string } }[];
  return quasi?.value.cooked;
}

/** Everything that a file takes from elsewhere: imports, re-exports, import types and dynamic imports. */
export function importsOf(file: TextFile): readonly Import[] {
  const types = [
    "ImportDeclaration",
    "ExportNamedDeclaration",
    "ExportAllDeclaration",
    "ImportExpression",
    "TSImportType",
  ];
  return nodesOf(file, ...types).flatMap((node) => {
    const specifier = literalText(node["source"] ?? node["argument"]);
    return specifier === undefined ? [] : [{ specifier, line: lineOf(file, node) }];
  });
}

/** What `import(`./${name}.ts`)` can mean: files of a folder, as patterns for paths relative to the root. */
export function importPatternsOf(file: TextFile): readonly RegExp[] {
  return nodesOf(file, "ImportExpression").flatMap((node) => {
    const source = node["source"] as Node;
    if (source.type !== "TemplateLiteral" || literalText(source) !== undefined) return [];
    const parts = (source["quasis"] as readonly { readonly value: { readonly cooked: string } }[]).map(
      (q) => q.value.cooked,
    );
    if (parts[0]?.startsWith(".") !== true) return [];
    const literal = resolveRelative(file.path, parts.join("HOLE")).replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
    return [new RegExp(`^${literal.replaceAll("HOLE", "[^/]+")}$`)];
  });
}

/** Source files named by a string: workers, child processes, `new URL("./x.ts", import.meta.url)`. */
export function filesNamedIn(file: TextFile): readonly string[] {
  const imports = new Set(importsOf(file).map(({ specifier }) => specifier));
  return nodesOf(file, "Literal", "TemplateElement").flatMap((node) => {
    const value = node.type === "Literal" ? node["value"] : (node["value"] as { readonly cooked?: string }).cooked;
    const isFile = typeof value === "string" && /[\w-]\.(?:ts|tsx|mts|mjs|js)$/.test(value) && !imports.has(value);
    return isFile ? [value.replace(/^(?:\.{0,2}\/)+/, "")] : [];
  });
}

/** `describe`, `test`, also behind `.each(…)`, `.skipIf(…)`, `.only`: the word that a call begins with. */
export function calleeWord(call: Node): string | undefined {
  let at: unknown = call["callee"];
  while (isNode(at)) {
    if (at.type === "Identifier") return String(at["name"]);
    at = at.type === "MemberExpression" ? at["object"] : (at["callee"] ?? at["tag"]);
  }
  return undefined;
}

/** The file that a relative specifier means, relative to the root. */
export function resolveRelative(from: string, specifier: string): string {
  return new URL(specifier, `file:///${from}`).pathname.slice(1);
}
