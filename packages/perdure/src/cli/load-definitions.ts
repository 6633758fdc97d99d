// From files to what they offer: every export that is a service, an object, a workflow or a schedule.
//
// Node strips the types itself; nothing is bundled or compiled. What cannot be loaded is explained with its place and
// what to do, by Node's error codes.

import { statSync } from "node:fs";
import { extname, relative, resolve } from "node:path";
import { ModuleLoadError, isPerdureError } from "@perdure/protocol";
import { isServable, type Servable } from "@perdure/sdk";
import { explainLoadFailure } from "./load-failure.ts";
import { fileUrl, trackModules, type ModuleTracker } from "./module-tracker.ts";

export interface LoadOptions {
  /** What relative names are relative to. */
  readonly cwd?: string;
  /** Goes on after the loading; absent: one of our own, for as long as it takes. */
  readonly tracker?: ModuleTracker;
}

const EXTENSIONS = [".ts", ".mts", ".cts", ".js", ".mjs", ".cjs"];

/** @throws ModuleLoadError; DefinitionError where a definition in the files is wrong. */
export async function loadDefinitions(
  files: readonly string[],
  options: LoadOptions = {},
): Promise<readonly Servable[]> {
  const cwd = options.cwd ?? process.cwd();
  const paths = files.map((file) => checkFile(file, cwd));
  const tracker = options.tracker ?? trackModules();
  try {
    const definitions = new Set<Servable>();
    const empty: string[] = [];
    for (const path of paths) {
      const found = await loadFile(path, cwd, tracker);
      for (const definition of found.definitions) definitions.add(definition);
      if (found.definitions.length === 0) empty.push(`${relative(cwd, path)} exports ${found.exports}`);
    }
    if (empty.length > 0) throw nothingToServe(empty);
    return [...definitions];
  } finally {
    if (options.tracker === undefined) tracker.stop();
  }
}

function checkFile(file: string, cwd: string): string {
  const path = resolve(cwd, file);
  const stats = statSync(path, { throwIfNoEntry: false });
  const refuse = (what: string, advice: string): ModuleLoadError =>
    new ModuleLoadError(`${file} ${what}`, { metadata: { do: advice } });
  if (stats === undefined) throw refuse("does not exist", `check the name; it was looked for at ${path}`);
  if (stats.isDirectory()) throw refuse("is a folder", `name the files in it: ${file.replace(/\/$/, "")}/*.ts`);
  if (/^\.[jt]sx$/.test(extname(path)))
    throw refuse(
      "contains JSX, which Node does not run",
      "keep handlers in .ts files, and import what needs JSX as built JavaScript",
    );
  if (!EXTENSIONS.includes(extname(path)))
    throw refuse("is not a module", `name TypeScript or JavaScript files (${EXTENSIONS.join(", ")})`);
  return path;
}

interface LoadedFile {
  readonly definitions: readonly Servable[];
  /** In words, for those who wonder. */
  readonly exports: string;
}

async function loadFile(path: string, cwd: string, tracker: ModuleTracker): Promise<LoadedFile> {
  let module: Readonly<Record<string, unknown>>;
  try {
    module = (await import(fileUrl(path))) as Readonly<Record<string, unknown>>;
  } catch (error) {
    if (isPerdureError(error) && error.code !== ModuleLoadError.code) throw error;
    throw await explainLoadFailure(error, path, { cwd, loaded: tracker.files() });
  }
  const names = Object.keys(module).filter((name) => name !== "module.exports");
  const described = names.map((name) => `${name} (${kindOf(module[name])})`);
  return {
    definitions: Object.values(module).filter(isServable),
    exports: described.length === 0 ? "nothing" : `only ${described.join(", ")}`,
  };
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return typeof value === "object" ? (value.constructor?.name ?? "object") : typeof value;
}

function nothingToServe(empty: readonly string[]): ModuleLoadError {
  return new ModuleLoadError(`there is nothing to serve: ${empty.join("; ")}`, {
    metadata: {
      do: 'export what agent(), service(), object(), workflow() or schedule() returns: export const greeter = service("greeter", { async hello(ctx, name: string) { … } })',
    },
  });
}
