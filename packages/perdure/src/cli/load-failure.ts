// Why a module cannot be loaded, for the person who wrote it: the place, the reason, what to do.
//
// What is advised depends on Node's error codes. Texts are only taken apart to show them better.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, extname, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { ModuleLoadError } from "@perdure/protocol";

interface Surroundings {
  readonly cwd: string;
  /** The project's modules that were loaded until it failed. */
  readonly loaded: readonly string[];
}

interface Place {
  readonly file: string;
  readonly line: number | undefined;
  readonly column?: number | undefined;
  readonly excerpt?: string;
}

export async function explainLoadFailure(
  error: unknown,
  entry: string,
  around: Surroundings,
): Promise<ModuleLoadError> {
  const failure = error instanceof Error ? (error as NodeJS.ErrnoException) : new Error(`${String(error)} was thrown`);
  const place = placeOf(failure, around) ?? { file: entry, line: undefined };
  const name = relative(around.cwd, place.file) || place.file;
  const where =
    place.line === undefined ? name : `${name}:${place.line}${place.column === undefined ? "" : `:${place.column}`}`;
  const { reason, advice } = reasonOf(failure, around);
  return new ModuleLoadError(`${where} cannot be loaded: ${reason}`, {
    cause: error,
    metadata: { where, ...(place.excerpt === undefined ? {} : { excerpt: place.excerpt }), do: advice },
  });
}

/** Node puts the place before the stack of TypeScript's and linking errors; else it is the first frame in a project's file. */
function placeOf(failure: Error, around: Surroundings): Place | undefined {
  const stack = failure.stack ?? "";
  const head = /^(file:\/\/\S+|\/\S.*|[A-Z]:\\.*):(\d+)\n([^\n]*(?:\n[^\n]*)*?)\n\n?(?=\w*Error\b)/.exec(stack);
  if (head !== null) {
    const excerpt = (head[3] ?? "").split("\n").slice(-2).join("\n");
    return { file: pathOf(head[1] ?? ""), line: Number(head[2]), ...(excerpt === "" ? {} : { excerpt }) };
  }
  const from = / imported from (.+)$/m.exec(failure.message);
  if (from !== null) return { file: pathOf(from[1] ?? ""), line: undefined };
  for (const frame of stack.matchAll(/\(?(file:\/\/[^)\s]+|\/[^)\s]+):(\d+):(\d+)\)?$/gm)) {
    const file = pathOf(frame[1] ?? "");
    if (around.loaded.includes(file)) return { file, line: Number(frame[2]), column: Number(frame[3]) };
  }
  return failure instanceof SyntaxError ? placeInJavaScript(around) : undefined;
}

/** A syntax error in plain JavaScript comes without its place; `node --check` knows it. The newest file is the likely one. */
function placeInJavaScript(around: Surroundings): Place | undefined {
  const suspects = around.loaded.filter((file) => /^\.[cm]?js$/.test(extname(file))).toReversed();
  for (const file of suspects.slice(0, 20)) {
    const checked = spawnSync(process.execPath, ["--check", file], { encoding: "utf8" });
    const head = /^(.+):(\d+)\n([^\n]*\n[^\n]*)\n/.exec(checked.stderr);
    if (checked.status !== 0 && head !== null) return { file, line: Number(head[2]), excerpt: head[3] ?? "" };
  }
  return undefined;
}

function pathOf(text: string): string {
  return text.startsWith("file:") ? fileURLToPath(text) : text;
}

function reasonOf(
  failure: NodeJS.ErrnoException,
  around: Surroundings,
): { readonly reason: string; readonly advice: string } {
  const reason = failure.message.split("\n")[0] ?? "";
  switch (failure.code) {
    case "ERR_MODULE_NOT_FOUND":
      return missingModule(failure, around);
    case "ERR_UNSUPPORTED_DIR_IMPORT":
      return { reason, advice: 'name the file: import … from "./folder/index.ts"' };
    case "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX":
      return {
        reason,
        advice:
          "Node only strips types: write a union or an object instead of an enum, and no namespaces or parameter properties (tsconfig: erasableSyntaxOnly)",
      };
    case "ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING":
      return { reason, advice: "a package in node_modules has to be built to JavaScript first" };
    case "ERR_IMPORT_ATTRIBUTE_MISSING":
      return { reason, advice: 'write: import data from "./file.json" with { type: "json" }' };
    case "ERR_UNKNOWN_FILE_EXTENSION":
      return { reason, advice: "import TypeScript, JavaScript or JSON files" };
    case "ERR_INVALID_TYPESCRIPT_SYNTAX":
      return { reason, advice: "mend the syntax there" };
    case "ERR_PACKAGE_PATH_NOT_EXPORTED":
      return { reason, advice: 'the package does not offer this path: look at "exports" in its package.json' };
    default:
      return {
        reason,
        advice:
          failure instanceof SyntaxError
            ? syntaxAdvice(failure)
            : "the module's own code threw this while it was loaded: mend it there",
      };
  }
}

function syntaxAdvice(failure: SyntaxError): string {
  return / does not provide an export named /.test(failure.message)
    ? "check the name; a type is imported with `import type { … }` or `import { type … }`, since Node strips types file by file"
    : "mend the syntax there";
}

function missingModule(
  failure: NodeJS.ErrnoException,
  around: Surroundings,
): { readonly reason: string; readonly advice: string } {
  const packageName = /^Cannot find package '([^']+)'/.exec(failure.message)?.[1];
  if (packageName !== undefined) {
    return { reason: `the package "${packageName}" is not installed`, advice: `npm install ${packageName}` };
  }
  const wanted = /^Cannot find module '([^']+)'/.exec(failure.message)?.[1];
  if (wanted === undefined) return { reason: failure.message, advice: "check the import" };
  const path = pathOf(wanted);
  const shown = relative(around.cwd, path);
  const near = neighbours(path).find((candidate) => existsSync(candidate));
  const reason = `it imports ${shown}, which does not exist`;
  if (near === undefined) return { reason, advice: "check the name and create the file" };
  const name = relative(dirname(path), near);
  return { reason, advice: `imports name the whole file: write "…/${name}"` };
}

function neighbours(path: string): readonly string[] {
  const bare = path.replace(/\.[cm]?jsx?$/, "");
  const endings = [".ts", ".mts", ".js", ".mjs", "/index.ts", "/index.js"];
  return [...endings.map((ending) => `${path}${ending}`), ...endings.map((ending) => resolve(`${bare}${ending}`))];
}
