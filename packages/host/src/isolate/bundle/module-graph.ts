// Who imports whom, as the bundler found it, and the shortest way from the entry to a module.

import type { PluginContext } from "rolldown";

export class ModuleGraph {
  static readonly EMPTY: ModuleGraph = new ModuleGraph();
  readonly #static: Map<string, ReadonlySet<string>> = new Map();
  readonly #all: Map<string, readonly string[]> = new Map();

  constructor(context?: PluginContext) {
    for (const id of context?.getModuleIds() ?? []) {
      const info = context?.getModuleInfo(id);
      if (info === null || info === undefined) continue;
      this.#static.set(id, new Set(info.importedIds));
      this.#all.set(id, [...info.importedIds, ...info.dynamicallyImportedIds]);
    }
  }

  get ids(): readonly string[] {
    return [...this.#all.keys()];
  }

  importersOf(id: string): readonly string[] {
    return [...this.#all].filter(([, imported]) => imported.includes(id)).map(([importer]) => importer);
  }

  isStatic(importer: string, id: string): boolean {
    return this.#static.get(importer)?.has(id) === true;
  }

  /** From the user's module to the nearest of `ends`; undefined where there is none. */
  shortestChain(ends: readonly string[]): readonly string[] | undefined {
    const entry = [...this.#all.keys()].find((id) => id.startsWith("\0isolate-entry")) ?? "";
    const from = new Map<string, string | undefined>([[entry, undefined]]);
    for (const id of from.keys()) {
      if (ends.includes(id)) return chainTo(id, from).filter((one) => one !== entry);
      for (const next of this.#all.get(id) ?? []) if (!from.has(next)) from.set(next, id);
    }
    return undefined;
  }
}

function chainTo(end: string, from: ReadonlyMap<string, string | undefined>): readonly string[] {
  const chain: string[] = [];
  for (let id: string | undefined = end; id !== undefined; id = from.get(id)) chain.unshift(id);
  return chain;
}
