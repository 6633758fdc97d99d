// The tree that the house rules look at: every text file of the repository that git knows or would add, and the
// workspaces' manifests. Paths are relative to the root, with "/".

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

export interface TextFile {
  readonly path: string;
  readonly text: string;
}

export interface Manifest {
  /** Folder of the package.json, "" for the root. */
  readonly folder: string;
  readonly name: string;
  readonly dependencies: readonly string[];
  readonly devDependencies: readonly string[];
  /** Files, relative to the root, that are reached by names of their own: exports, imports, bin, scripts. */
  readonly entries: readonly string[];
}

export interface Tree {
  readonly files: readonly TextFile[];
  readonly manifests: readonly Manifest[];
  /** Whether a path, file or folder, is there: for links to what is not text. */
  exists(path: string): boolean;
}

export interface Violation {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

export interface Rule {
  readonly name: string;
  check(tree: Tree): readonly Violation[];
}

const TEXT = /(?:\.(?:ts|tsx|mts|mjs|js|cjs|json|jsonl|md|css|html|sql|ya?ml|sh|txt)|(?:^|\/)(?:\.npmrc|\.ci\/run))$/;
const SKIPPED_FOLDERS = new Set(["node_modules", "dist", "coverage", ".git", ".perdure"]);
const FILE_BYTES_MAX = 4_000_000;

export function readTree(root: string): Tree {
  const paths = listPaths(root).filter((path) => TEXT.test(path) && statSync(join(root, path)).size <= FILE_BYTES_MAX);
  const files = paths.map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
  return { ...treeOf(files), exists: (path) => existsSync(join(root, path)) };
}

/** A tree made of texts: what the rules' own tests use. */
export function treeOf(files: readonly TextFile[]): Tree {
  const sorted = files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const isPath = (path: string) => sorted.some((file) => file.path === path || file.path.startsWith(`${path}/`));
  return { files: sorted, manifests: sorted.filter(isManifest).map(readManifest), exists: isPath };
}

function listPaths(root: string): readonly string[] {
  if (!existsSync(join(root, ".git"))) return walk(root, "");
  const args = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
  const listed = execFileSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 64_000_000 }).split("\0");
  return listed.filter((path) => path !== "" && existsSync(join(root, path)) && statSync(join(root, path)).isFile());
}

/** Without git (an unpacked archive): everything that is not known to be made. */
function walk(root: string, folder: string): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return SKIPPED_FOLDERS.has(entry.name) ? [] : walk(root, path);
    return entry.isFile() ? [path] : [];
  });
}

function isManifest(file: TextFile): boolean {
  return /^(?:(?:packages|examples)\/[^/]+\/|bench\/)?package\.json$/.test(file.path);
}

function readManifest(file: TextFile): Manifest {
  const json = JSON.parse(file.text) as Record<string, unknown>;
  const folder = file.path === "package.json" ? "" : file.path.slice(0, -"/package.json".length);
  const names = (key: string) => Object.keys((json[key] ?? {}) as Record<string, string>);
  const within = (path: string) => (folder === "" ? path : `${folder}/${path}`);
  const sources = stringsIn([json["exports"], json["imports"], json["bin"]]).filter(
    (path) => !path.startsWith("./dist/"),
  );
  const scripts = stringsIn(json["scripts"]).flatMap((script) => script.match(/[\w./-]+\.(?:m?[jt]s|tsx)\b/g) ?? []);
  return {
    folder,
    name: typeof json["name"] === "string" ? json["name"] : "",
    dependencies: [...names("dependencies"), ...names("peerDependencies"), ...names("optionalDependencies")],
    devDependencies: names("devDependencies"),
    entries: [...sources, ...scripts].map((path) => within(path.replace(/^\.\//, ""))),
  };
}

function stringsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

// Questions about paths
// ---------------------

const isCode = (path: string): boolean => /\.(?:ts|tsx|mts|mjs|js|cjs)$/.test(path) && !isFixture(path);
export const isTest = (path: string): boolean => /\.test\.tsx?$/.test(path);
export const isFixture = (path: string): boolean => /^fixtures\/|\/fixtures\//.test(path);
/** Code that only tests use: in a package's test/ folder, or named so. */
export const isTestSupport = (path: string): boolean =>
  /^(?:packages|examples)\/[^/]+\/test\//.test(path) || /(?:^|\/)testing(?:\/|\.)|\.testing\./.test(path);

export function codeFiles(tree: Tree): readonly TextFile[] {
  return tree.files.filter((file) => isCode(file.path));
}

/** The manifest that a file answers to. */
export function manifestOf(tree: Tree, path: string): Manifest | undefined {
  const inside = tree.manifests.filter((manifest) => manifest.folder !== "" && path.startsWith(`${manifest.folder}/`));
  return inside[0] ?? tree.manifests.find((manifest) => manifest.folder === "");
}

export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}
