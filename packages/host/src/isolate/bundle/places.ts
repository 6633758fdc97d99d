// Files of a bundle by names that are the same on every machine: relative to the package of the entry, with forward slashes.

import { existsSync, realpathSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";

export interface Places {
  /** The user's module, with links resolved. */
  readonly entry: string;
  /** The folder of the nearest package.json above the entry; the entry's own folder where there is none. */
  readonly root: string;
}

export function placesOf(entry: string): Places {
  const real = realpathSync(entry);
  return { entry: real, root: packageRoot(dirname(real)) ?? dirname(real) };
}

function packageRoot(folder: string): string | undefined {
  if (existsSync(join(folder, "package.json"))) return folder;
  const parent = dirname(folder);
  return parent === folder ? undefined : packageRoot(parent);
}

/** `src/desk.ts`; `../shared/desk.ts` of what lies beside the package. */
export function placeOf(path: string, { root }: Places): string {
  return relative(root, path).split(sep).join("/");
}

/** For people: a file of the user's by its place, a file of a dependency by the dependency's name. */
export function shownName(id: string, places: Places): string {
  const dependency = dependencyOf(id);
  if (dependency !== undefined) return dependency;
  return id.startsWith(sep) || /^[A-Za-z]:/.test(id) ? placeOf(id, places) : id;
}

/** `zod` of `…/node_modules/zod/v4/core/index.js`; undefined where a file belongs to no dependency. */
export function dependencyOf(id: string): string | undefined {
  const parts = id.split(/[\\/]/);
  const at = parts.lastIndexOf("node_modules");
  const name = at === -1 ? undefined : parts[at + 1];
  if (name === undefined) return undefined;
  return name.startsWith("@") ? `${name}/${parts[at + 2]}` : name;
}
