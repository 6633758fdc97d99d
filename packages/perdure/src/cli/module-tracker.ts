// Which files of a project were loaded: what `dev` watches, and where a syntax error may be.
//
// A project's files are the local modules outside of node_modules and outside of Perdure itself. Modules that were asked
// for and are not there count too: creating them is the change to wait for.

import { registerHooks } from "node:module";
import { dirname, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export interface ModuleTracker {
  /** Absolute paths, in order of loading. */
  files(): readonly string[];
  /** Is told of each new file. */
  onFile(listener: (file: string) => void): void;
  stop(): void;
}

export function trackModules(): ModuleTracker {
  const own = ownRoots();
  const files = new Set<string>();
  let listener: ((file: string) => void) | undefined;
  const add = (url: string): void => {
    const file = projectFile(url, own);
    if (file === undefined || files.has(file)) return;
    files.add(file);
    listener?.(file);
  };
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      try {
        return next(specifier, context);
      } catch (error) {
        if (/^\.{0,2}\//.test(specifier) && context.parentURL !== undefined)
          add(new URL(specifier, context.parentURL).href);
        throw error;
      }
    },
    load(url, context, next) {
      add(url);
      return next(url, context);
    },
  });
  return {
    files: () => [...files],
    onFile: (added) => {
      listener = added;
      for (const file of files) added(file);
    },
    stop: () => hooks.deregister(),
  };
}

function projectFile(url: string, own: readonly string[]): string | undefined {
  if (!url.startsWith("file:")) return undefined;
  const path = fileURLToPath(new URL(url.replace(/[?#].*$/, "")));
  if (path.includes(`${sep}node_modules${sep}`) || own.some((root) => path.startsWith(root))) return undefined;
  return path;
}

/** Folders of Perdure's own packages, as far as they lie outside of node_modules (in its checkout). */
function ownRoots(): readonly string[] {
  const here = fileURLToPath(new URL("../../", import.meta.url));
  const others = ["@perdure/protocol", "@perdure/engine", "@perdure/sdk", "@perdure/host"].map((name) => {
    const entry = fileURLToPath(import.meta.resolve(name)); // <root>/dist/index.js or <root>/src/index.ts
    return `${dirname(dirname(entry))}${sep}`;
  });
  return [here, ...others];
}

export function fileUrl(path: string): string {
  return pathToFileURL(path).href;
}
