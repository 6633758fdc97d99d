// Imports point one way, and only at what the package.json lists.

import { builtinModules } from "node:module";

import { importsOf, resolveRelative } from "../syntax.ts";
import {
  codeFiles,
  isTest,
  manifestOf,
  type Manifest,
  type Rule,
  type TextFile,
  type Tree,
  type Violation,
} from "../tree.ts";

/** Which workspaces a workspace's sources and the tests beside them may import. Scenarios in its test/ are free. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  "packages/protocol": [],
  "packages/engine": ["packages/protocol"],
  "packages/sdk": ["packages/protocol"],
  "packages/agents": ["packages/protocol", "packages/sdk"],
  "packages/host": ["packages/protocol", "packages/engine", "packages/sdk"],
  "packages/perdure": ["packages/protocol", "packages/engine", "packages/sdk", "packages/agents", "packages/host"],
  "packages/sim": ["packages/protocol", "packages/engine", "packages/sdk", "packages/agents", "packages/host"],
  "packages/cockpit": ["packages/protocol"],
};
const EXAMPLE_LAYERS = ["packages/perdure"];

export const layers: Rule = {
  name: "imports between packages follow the table",
  check: (tree) => [...unlistedPackages(tree), ...codeFiles(tree).flatMap((file) => layerViolations(tree, file))],
};

function unlistedPackages(tree: Tree): readonly Violation[] {
  return tree.manifests
    .filter(({ folder }) => folder.startsWith("packages/") && !Object.hasOwn(LAYERS, folder))
    .map(({ folder }) => ({
      path: `${folder}/package.json`,
      line: 1,
      message: `${folder} has no row in the table of layers`,
    }));
}

function layerViolations(tree: Tree, file: TextFile): readonly Violation[] {
  const from = manifestOf(tree, file.path)?.folder ?? "";
  const allowed = from.startsWith("examples/") ? EXAMPLE_LAYERS : LAYERS[from];
  return importsOf(file).flatMap(({ specifier, line }) => {
    if (specifier.startsWith(".")) return leavesPackage(file, from, specifier, line);
    const target = tree.manifests.find(({ name }) => name === packageName(specifier))?.folder;
    const isFree = target === undefined || target === from || allowed === undefined || isScenario(file.path);
    if (isFree || allowed.includes(target)) return [];
    return [
      {
        path: file.path,
        line,
        message: `${from} may not import ${specifier}: ${from} -> ${allowed.join(", ") || "nothing"}`,
      },
    ];
  });
}

function leavesPackage(file: TextFile, from: string, specifier: string, line: number): readonly Violation[] {
  if (from === "" || resolveRelative(file.path, specifier).startsWith(`${from}/`)) return [];
  return [{ path: file.path, line, message: `${specifier} leaves the package: import the other one by its name` }];
}

const isScenario = (path: string) => /^(?:packages|examples)\/[^/]+\/test\//.test(path);

export const declaredDependencies: Rule = {
  name: "a package imports only what its package.json lists",
  check: (tree) => codeFiles(tree).flatMap((file) => undeclared(tree, file)),
};

function undeclared(tree: Tree, file: TextFile): readonly Violation[] {
  const own = manifestOf(tree, file.path);
  const root = tree.manifests.find(({ folder }) => folder === "");
  if (own === undefined) return [];
  const listed = listedFor(tree, file.path, own, root);
  return importsOf(file).flatMap(({ specifier, line }) => {
    if (/^(?:\.|#|node:|virtual:)/.test(specifier)) return [];
    const name = packageName(specifier);
    const here = { path: file.path, line };
    if (builtinModules.includes(name)) return [{ ...here, message: `${specifier}: write node:${specifier}` }];
    return listed.has(name) ? [] : [{ ...here, message: `${name} is not listed in ${own.folder || "."}/package.json` }];
  });
}

/** What a file may rely on. Only a source is shipped, so only a source is held to `dependencies`. */
function listedFor(tree: Tree, path: string, own: Manifest, root: Manifest | undefined): ReadonlySet<string> {
  const workspaces = tree.manifests.filter(({ folder }) => /^(?:packages|examples)\//.test(folder));
  const listed = new Set([...own.dependencies, own.name]);
  const isShipped = own.folder.startsWith("packages/") && path.startsWith(`${own.folder}/src/`) && !isTest(path);
  const add = (names: readonly string[] = []) => names.forEach((name) => listed.add(name));
  if (!isShipped) add([...own.devDependencies, ...(root?.devDependencies ?? [])]);
  if (own.folder === "bench") add(workspaces.map(({ name }) => name)); // Not a workspace, but beside them.
  return listed;
}

function packageName(specifier: string): string {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}
