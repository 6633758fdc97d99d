// What `memory: "snapshot"` needs of a server: bundles of the modules that define such services, kept in the store, and the
// executor that runs them.
//
// A run keeps the bundle that it began with, so a server has an executor for isolates also where no module asks for one any
// more: runs of earlier deployments may still be there.

import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import {
  bundleModule,
  createIsolateExecutor,
  loadHostModules,
  withSourceMap,
  type HostFunction,
  type IsolateBundle,
  type IsolateExecutor,
  type IsolateOptions,
} from "@perdure/host";
import type { Artifacts } from "@perdure/engine";
import { DefinitionError, type Target } from "@perdure/protocol";
import { isServable, type AnyDefinition, type LogRecord, type Registry, type SdkPorts } from "@perdure/sdk";
import { hostModels, hostSources } from "@perdure/agents";

export interface SnapshotMemory {
  readonly executor: IsolateExecutor;
  /** The bundle that a run of this target begins with; null where it is remembered by its journal. */
  readonly deployment: (target: Target) => string | null;
  /** What was bundled: absolute paths. For those who watch. */
  readonly files: readonly string[];
}

export interface SnapshotMemoryOptions {
  readonly registry: Registry;
  /** Modules that export the definitions: paths or file URLs. */
  readonly sources: readonly (string | URL)[];
  readonly artifacts: Artifacts;
  /** Of handlers in this process: what these share (models) isolates share with them. */
  readonly ports: SdkPorts;
  readonly log: (record: LogRecord) => void;
  readonly isolates?: Partial<Pick<IsolateOptions, "threads" | "policy" | "limits" | "memoryMax" | "ports">>;
  /** Which definitions live in isolates. Default: those that ask for it. */
  readonly wanted?: (definition: AnyDefinition) => boolean;
  /** Where the code comes from. Default: it is bundled now. */
  readonly bundle?: (entry: string) => Promise<IsolateBundle>;
  /** Around each function that runs on the host. */
  readonly around?: (fn: HostFunction) => HostFunction;
}

/** @throws DefinitionError where a definition asks for it and no source exports it; IsolateModuleError */
export async function openSnapshotMemory(options: SnapshotMemoryOptions): Promise<SnapshotMemory> {
  const { registry, sources, artifacts, ports, log, isolates, around = (fn) => fn } = options;
  const { wanted: isWanted = asksForIt, bundle: bundleOf = (entry) => bundleModule({ entry }) } = options;
  const wanted = registry.definitions.filter(isWanted);
  const bundles = new Map<string, string>();
  const functions = new Map<string, HostFunction>();
  const values = new Map<string, unknown>();
  const files: string[] = [];
  const paths = wanted.length === 0 ? [] : sources.map(pathOf);
  for (const entry of paths) {
    const defined = (await definitionsIn(entry)).filter(({ name }) => wanted.some((one) => one.name === name));
    if (defined.length === 0) continue;
    const bundle = await bundleOf(entry);
    const hash = await artifacts.put("bundle", bytesOf(bundle), {
      entry: entryName(entry),
      createdAt: new Date().toISOString(),
    });
    for (const { name } of defined) bundles.set(name, hash);
    const exported = await loadHostModules(bundle);
    for (const [name, fn] of exported.functions) functions.set(name, around(fn));
    for (const [name, value] of exported.values) values.set(name, value);
    files.push(...bundle.files);
  }
  const missing = wanted.filter(({ name }) => !bundles.has(name)).map(({ name }) => `"${name}"`);
  if (missing.length > 0) throw notExported(missing.join(", "), paths);
  for (const [name, fn] of [...hostModels(ports, values), ...hostSources(values)])
    functions.set(name, around(fn as HostFunction));
  const executor = createIsolateExecutor({ artifacts, hostFunctions: functions, hostValues: values, log, ...isolates });
  await prepareAll(executor, new Set(bundles.values()));
  return {
    executor,
    deployment: ({ service }) => bundles.get(service) ?? null,
    files,
  };
}

const BYTES: WeakMap<IsolateBundle, Uint8Array> = new WeakMap();

/** Once for each: there are megabytes of them. */
function bytesOf(bundle: IsolateBundle): Uint8Array {
  const bytes = BYTES.get(bundle) ?? Buffer.from(withSourceMap(bundle.code, bundle.sourceMap));
  BYTES.set(bundle, bytes);
  return bytes;
}

const asksForIt = ({ options: { memory } }: AnyDefinition): boolean => memory === "snapshot";

/** What cannot be loaded is said now, and not by the first run. */
async function prepareAll(executor: IsolateExecutor, bundles: Iterable<string>): Promise<void> {
  try {
    for (const bundle of bundles) await executor.prepare(bundle);
  } catch (error) {
    await executor.close();
    throw error;
  }
}

async function definitionsIn(path: string): Promise<readonly AnyDefinition[]> {
  const module = (await import(new URL(`file://${path}`).href)) as Readonly<Record<string, unknown>>;
  return Object.values(module)
    .filter(isServable)
    .flatMap((servable) => ("definitions" in servable ? servable.definitions : [servable]));
}

function notExported(names: string, paths: readonly string[]): DefinitionError {
  const where =
    paths.length === 0
      ? 'serve() was not told where they are defined: pass sources: [new URL("./agents.ts", import.meta.url)]'
      : `none of ${paths.map(entryName).join(", ")} exports them: export what they are made with`;
  return new DefinitionError(
    `memory: "snapshot" of ${names} needs the code of the module that defines it, to load it into isolates, and ${where}`,
  );
}

const pathOf = (source: string | URL): string =>
  source instanceof URL || source.startsWith("file:") ? fileURLToPath(source) : resolve(source);

const entryName = (path: string): string => path.split(/[\\/]/).at(-1) ?? path;
