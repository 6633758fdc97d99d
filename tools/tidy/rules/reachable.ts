// Every source is reached from somewhere, and every door of a package leads to a file.

import { filesNamedIn, importPatternsOf, importsOf, resolveRelative } from "../syntax.ts";
import { codeFiles, isTest, isTestSupport, type Rule, type TextFile, type Tree } from "../tree.ts";

const PLACEHOLDER = "export {};";
/** Entry files that no manifest names: what tools and the root's tasks start. */
const ENTRIES = [
  /\.config\.(?:ts|mjs|js)$/,
  /^packages\/sim\/src\/main\.ts$/,
  /^packages\/cockpit\/src\/main\.tsx$/,
  /^examples\/[^/]+\/src\/main\.ts$/,
  /^bench\/src\/run\.ts$/,
];
const CANDIDATES = /^(?:packages|examples)\/[^/]+\/(?:src|test)\/|^bench\/src\/|^tools\//;

export const reachable: Rule = {
  name: "no file that nobody imports",
  check: (tree) => {
    const entries = new Set(tree.manifests.flatMap((manifest) => manifest.entries));
    const bySources = imported(tree, (file) => !isTest(file.path));
    const byTests = imported(tree, (file) => isTest(file.path));
    return codeFiles(tree)
      .filter(({ path }) => CANDIDATES.test(path) && !isTest(path) && !entries.has(path))
      .filter(({ path }) => !ENTRIES.some((pattern) => pattern.test(path)))
      .filter(({ path }) => !bySources.has(path) && !(isUsableByTestsOnly(path) && byTests.has(path)))
      .filter(({ text }) => text.trim() !== PLACEHOLDER)
      .map(({ path }) => ({
        path,
        line: 1,
        message: byTests.has(path) ? "only tests import this: dead code, remove it" : "nobody imports this: remove it",
      }));
  },
};

const isUsableByTestsOnly = (path: string) => isTestSupport(path) || path.startsWith("tools/");

function imported(tree: Tree, isAsked: (file: TextFile) => boolean): ReadonlySet<string> {
  const files = codeFiles(tree);
  const found = new Set<string>();
  for (const file of files.filter(isAsked)) {
    for (const { specifier } of importsOf(file))
      if (specifier.startsWith(".")) found.add(resolveRelative(file.path, specifier));
    for (const pattern of importPatternsOf(file)) {
      for (const { path } of files) if (pattern.test(path)) found.add(path);
    }
    for (const name of filesNamedIn(file)) {
      const asSource = name.replace(/\.js(x?)$/, ".ts$1"); // A worker may be named by its built name.
      for (const { path } of files) if ([name, asSource].some((end) => `/${path}`.endsWith(`/${end}`))) found.add(path);
    }
  }
  return found;
}

export const doors: Rule = {
  name: "exports and bin lead to files",
  check: (tree) =>
    tree.manifests.flatMap(({ folder, entries }) =>
      entries
        .filter((path) => !tree.exists(path))
        .map((path) => ({
          path: folder === "" ? "package.json" : `${folder}/package.json`,
          line: 1,
          message: `${path} does not exist`,
        })),
    ),
};
