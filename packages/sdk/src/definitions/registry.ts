// All definitions that one deployment offers: what it exports, and what that needs.

import type { ServiceManifest } from "@perdure/protocol";
import { DefinitionError } from "@perdure/protocol";
import type { Bundle, Servable, StartCall } from "./bundle.ts";
import type { HandlerSpec } from "./handler.ts";
import { manifestOf } from "./manifest.ts";
import type { AnyDefinition } from "./service.ts";
import { isDefinition } from "./service.ts";

export interface Registry {
  /** Those that were named first, then what they need. */
  readonly definitions: readonly AnyDefinition[];
  readonly manifests: readonly ServiceManifest[];
  /** What is called when a runtime starts. */
  readonly onStart: readonly StartCall[];
  /** Called with the ports of each executor. */
  readonly prepare: readonly NonNullable<Bundle["prepare"]>[];
  find(service: string, handler: string): HandlerSpec | undefined;
  /** Targets that may have been meant, best first: `inbox/add`. */
  near(service: string, handler: string): readonly string[];
}

/** @throws DefinitionError where two definitions, or two bundles of a kind, have one name. */
export function createRegistry(servables: readonly Servable[]): Registry {
  const bundles = uniqueBundles(servables.filter((servable): servable is Bundle => !isDefinition(servable)));
  const named = [...servables.filter(isDefinition), ...bundles.flatMap(({ definitions }) => definitions)];
  const byName = new Map<string, AnyDefinition>();
  for (const definition of named) addWithCompanions(byName, definition);
  const unique = [...byName.values()];
  return {
    definitions: unique,
    manifests: unique.map(manifestOf),
    onStart: bundles.flatMap(({ onStart }) => onStart),
    prepare: bundles.flatMap(({ prepare }) => prepare ?? []),
    find: (service, handler) => byName.get(service)?.specs.get(handler),
    near: (service, handler) => nearTargets(unique, service, handler),
  };
}

/** Companions may need each other: what is there already is not looked at again. */
function addWithCompanions(byName: Map<string, AnyDefinition>, definition: AnyDefinition): void {
  const other = byName.get(definition.name);
  if (other === definition) return;
  if (other !== undefined) throw new DefinitionError(`two definitions have the name "${definition.name}"`);
  byName.set(definition.name, definition);
  for (const companion of definition.companions ?? []) addWithCompanions(byName, companion);
}

function uniqueBundles(bundles: readonly Bundle[]): readonly Bundle[] {
  const byName = new Map<string, Bundle>();
  for (const bundle of bundles) {
    const name = `${bundle.kind} ${bundle.name}`;
    const other = byName.get(name);
    if (other !== undefined && other !== bundle)
      throw new DefinitionError(`two ${bundle.kind}s have the name "${bundle.name}"`);
    byName.set(name, bundle);
  }
  return [...byName.values()];
}

const NEAR_TARGETS_MAX = 3;

function nearTargets(definitions: readonly AnyDefinition[], service: string, handler: string): string[] {
  const found: { readonly target: string; readonly distance: number }[] = [];
  for (const definition of definitions) {
    const serviceDistance = nearness(service, definition.name);
    if (serviceDistance === undefined) continue;
    for (const name of definition.specs.keys()) {
      // A service that is exactly right shows its handlers even where none of them is like the one that was asked for.
      const distance = nearness(handler, name) ?? (serviceDistance === 0 ? handler.length + name.length : undefined);
      if (distance !== undefined)
        found.push({ target: `${definition.name}/${name}`, distance: serviceDistance + distance });
    }
  }
  found.sort((a, b) => a.distance - b.distance || (a.target < b.target ? -1 : 1));
  return found.slice(0, NEAR_TARGETS_MAX).map((item) => item.target);
}

/** Edits between two names, or undefined where they are too many for a slip of the finger. */
function nearness(asked: string, offered: string): number | undefined {
  const distance = editDistance(asked.toLowerCase(), offered.toLowerCase());
  return distance <= Math.max(1, Math.floor(Math.max(asked.length, offered.length) / 3)) ? distance : undefined;
}

/** Levenshtein's, by rows. */
export function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const substitution = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(substitution, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
