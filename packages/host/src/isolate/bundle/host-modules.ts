// Modules that open with "use host": their functions run in Node, the hands of the isolate
// =========================================================================================
//   "use host";
//   import { readFile } from "node:fs/promises";
//   export async function readPage(path: string): Promise<string> { … }
//   export const PAGE_BYTES_MAX = 65_536;
//
// In the isolate's code such a module is a stub of its exports. What an export is, is known by loading the module here:
//
//   a function     asks the host for the real one, by the module's id and its own name
//   plain data     is copied into the code, as it is at this moment
//   anything else  (a class, a date, a connection) throws where it is touched. It can be passed on by its name, to what asks
//                  the host about it: so models and sources of tools are exported

import { pathToFileURL } from "node:url";
import { IsolateModuleError } from "@perdure/protocol";
import { parseModule, type Node } from "./syntax.ts";

export interface HostModule {
  /** The path from the entry's package, the same on every machine: `src/desk.ts`. */
  readonly id: string;
  readonly path: string;
}

export type HostFunction = (...args: readonly unknown[]) => unknown;

export interface HostExports {
  readonly functions: ReadonlyMap<string, HostFunction>;
  /** What is neither a function nor plain data: known inside by its name alone. */
  readonly values: ReadonlyMap<string, unknown>;
}

/** What a bundle's host modules export, by `id#export`. @throws IsolateModuleError */
export async function loadHostModules(bundle: { readonly hostModules: readonly HostModule[] }): Promise<HostExports> {
  const functions = new Map<string, HostFunction>();
  const values = new Map<string, unknown>();
  for (const module of bundle.hostModules) {
    for (const [name, value] of exportsOf(await load(module))) {
      if (isPlainFunction(value)) functions.set(`${module.id}#${name}`, value);
      else if (literalOf(value) === undefined) values.set(`${module.id}#${name}`, value);
    }
  }
  return { functions, values };
}

export function opensWithUseHost(code: string, path: string): boolean {
  const isCandidate = code.includes("use host");
  const statements = isCandidate ? (parseModule(code, path)["body"] as readonly Node[]) : [];
  for (const { directive } of statements) {
    if (typeof directive !== "string") return false;
    if (directive === "use host") return true;
  }
  return false;
}

/** The module's code inside the isolate. @throws IsolateModuleError */
export async function stubOf(module: HostModule): Promise<string> {
  const lines = [
    'import { hostFunction } from "@perdure/sdk/guest";',
    'import { hostOnly } from "@perdure/sdk/guest/host-only";',
  ];
  for (const [name, value] of exportsOf(await load(module))) {
    const local = `host_${lines.length}`; // An export may have the name of a keyword.
    lines.push(`const ${local} = ${stubValue(module.id, name, value)};`, `export { ${local} as ${quoted(name)} };`);
  }
  return lines.join("\n");
}

function stubValue(id: string, name: string, value: unknown): string {
  if (isPlainFunction(value)) return `/* @__PURE__ */ hostFunction(${quoted(id)}, ${quoted(name)})`;
  const literal = literalOf(value);
  if (literal !== undefined) return literal;
  const facts = JSON.stringify(factsOf(value));
  return `/* @__PURE__ */ hostOnly(${quoted(id)}, ${quoted(name)}, ${quoted(kindOf(value))}, ${facts})`;
}

/** What is known inside of a model of the AI SDK, and of a source of tools: which one it is. */
const FACTS: readonly { readonly of: string; readonly names: readonly string[] }[] = [
  { of: "doStream", names: ["specificationVersion", "provider", "modelId"] },
  { of: "offered", names: ["source", "optional"] },
];

function factsOf(value: unknown): Readonly<Record<string, string | boolean>> {
  if (typeof value !== "object" || value === null) return {};
  const properties = value as Readonly<Record<string, unknown>>;
  const { names } = FACTS.find(({ of }) => typeof properties[of] === "function") ?? { names: [] };
  const facts: Record<string, string | boolean> = {};
  for (const name of names) {
    const fact = properties[name];
    if (typeof fact === "string" || typeof fact === "boolean") facts[name] = fact;
  }
  return facts;
}

async function load({ id, path }: HostModule): Promise<object> {
  try {
    return (await import(pathToFileURL(path).href)) as object;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new IsolateModuleError(
      `${id} begins with "use host" and cannot be loaded: ${reason}. It runs in Node as it is: mend what it throws.`,
      { cause },
    );
  }
}

/** In the order of their names, which is the order of no accident. */
function exportsOf(namespace: object): readonly (readonly [name: string, value: unknown])[] {
  return Object.entries(namespace).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

const isPlainFunction = (value: unknown): value is HostFunction =>
  typeof value === "function" && !Function.prototype.toString.call(value).startsWith("class");

/** The value as an expression; undefined where that would be another value. */
function literalOf(value: unknown): string | undefined {
  switch (typeof value) {
    case "undefined":
      return "undefined";
    case "string":
    case "boolean":
      return JSON.stringify(value);
    case "number":
      return Object.is(value, -0) ? "-0" : String(value);
    case "bigint":
      return `${value}n`;
    case "object":
      return value === null ? "null" : isPlainData(value, new Set()) ? dataLiteral(value) : undefined;
    case "function":
    case "symbol":
      return undefined;
    default:
      return undefined;
  }
}

/** Parsed as JSON: a key `__proto__` is a key there, and an engine reads it faster. */
const dataLiteral = (value: object): string => `/* @__PURE__ */ JSON.parse(${quoted(JSON.stringify(value))})`;

function isPlainData(value: unknown, above: ReadonlySet<unknown>): boolean {
  if (value === null || typeof value === "string" || typeof value === "boolean") return true;
  if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== "object" || above.has(value)) return false;
  const inside = new Set(above).add(value);
  if (Array.isArray(value))
    return value.every((item) => isPlainData(item, inside)) && Object.keys(value).length === value.length;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  if (Object.getOwnPropertySymbols(value).length > 0) return false;
  return Object.values(value).every((item) => isPlainData(item, inside));
}

function kindOf(value: unknown): string {
  if (typeof value === "function") return "a class";
  if (typeof value === "symbol") return "a symbol";
  const name = (value as { readonly constructor?: { readonly name?: unknown } }).constructor?.name;
  return typeof name === "string" && name !== "" && name !== "Object" ? `a value of class ${name}` : "no plain data";
}

const quoted = (text: string): string => JSON.stringify(text);
