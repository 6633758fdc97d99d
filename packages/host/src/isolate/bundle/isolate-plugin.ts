// What the bundler is told of isolates: where modules come from, what stands for them, what is not there.
//
// P1. Something absent is refused only if the code that is left still asks for it. Libraries import much that an agent never
//     reaches, and whether it is reached is known after the rest was shaken off.
// P2. The guest's own modules come from beside this package, wherever the user's module lies.

import { isBuiltin } from "node:module";
import { isAbsolute } from "node:path";
import { fileURLToPath } from "node:url";
import { IsolateModuleError } from "@perdure/protocol";
import type { OutputChunk, PartialResolvedId, Plugin, PluginContext, ResolvedId, RolldownLog } from "rolldown";
import { refusalFor, type Absence, type AbsenceKind } from "./absent.ts";
import { opensWithUseHost, stubOf, type HostModule } from "./host-modules.ts";
import { ModuleGraph } from "./module-graph.ts";
import { computedImports } from "./computed-imports.ts";
import { dependencyOf, placeOf, type Places } from "./places.ts";
import { Requires } from "./requires.ts";

/** The id of the module that everything begins with. */
export const ENTRY = "\0isolate-entry";

/** By specifier. */
export type GuestModules = Readonly<Record<string, string>>;

const GUEST = "@perdure/sdk/guest";
const HERE: string = fileURLToPath(import.meta.url);
const CODE = /\.(?:[cm]?[jt]s|[jt]sx|json)$/;
/** Files of a dependency that import each other: most of all imports, with nothing to look at. */
const WITHIN = /^\.{1,2}\/.*\.[cm]?js$/;
const ABSENT = "absent:";

type Absent = Pick<Absence, "kind" | "what">;

export class IsolatePlugin {
  readonly #places: Places;
  readonly #guest: GuestModules;
  /** By the ids that stand for them. */
  readonly #absent: Map<string, Absent> = new Map();
  readonly #requires: Requires = new Requires();
  readonly #hostModules: Map<string, HostModule> = new Map();
  readonly #metas: Set<string> = new Set();
  /** Lines at which modules import something whose name is not written there. */
  readonly #computed: Map<string, readonly number[]> = new Map();
  #graph: ModuleGraph = ModuleGraph.EMPTY;
  #refused: IsolateModuleError | undefined;

  constructor(places: Places, guest: GuestModules) {
    this.#places = places;
    this.#guest = guest;
  }

  hooks(): Plugin {
    const resolve = (context: PluginContext, ...asked: [string, string | undefined, string]) =>
      this.#resolve(context, ...asked);
    const keepGraph = (context: PluginContext): void => void (this.#graph = new ModuleGraph(context));
    return {
      name: "perdure-isolate",
      resolveId(source, importer, { kind }) {
        return resolve(this, source, importer, kind);
      },
      load: {
        filter: { id: new RegExp(`^${ENTRY}$`) },
        handler: () => this.#entryCode(),
      },
      transform: {
        filter: { code: /use host|\bimport\s*\(/ },
        handler: (code, id) => this.#read(code, id),
      },
      generateBundle() {
        keepGraph(this);
      },
    };
  }

  /** What the bundler notices. Nothing of it goes to the user but what is refused. */
  heed(log: RolldownLog): void {
    if (log.code === "EMPTY_IMPORT_META" && log.id !== undefined) this.#metas.add(log.id);
  }

  /** The name that a static import of something absent has in the code. */
  markOf(id: string): string {
    return `absent_${[...this.#absent.keys()].indexOf(id)}`;
  }

  /** P1: asked once the code is there. */
  refusal(chunk: OutputChunk): IsolateModuleError | undefined {
    if (this.#refused !== undefined) return this.#refused;
    const absences = [...this.#absencesIn(chunk), ...this.#lostPlaces(), ...this.#computedIn(chunk)].toSorted((a, b) =>
      a.what < b.what ? -1 : 1,
    );
    return absences.length === 0 ? undefined : refusalFor(absences, this.#places);
  }

  /** What the plugin itself threw, as it was. */
  get refused(): IsolateModuleError | undefined {
    return this.#refused;
  }

  hostModules(): readonly HostModule[] {
    return [...this.#hostModules.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  }

  files(): readonly string[] {
    return this.#graph.ids.filter((id) => isAbsolute(id)).toSorted();
  }

  #entryCode(): string {
    return [
      `import "${GUEST}/globals";`,
      `import * as user from ${JSON.stringify(this.#places.entry)};`,
      `import { install } from "${GUEST}";`,
      "install([user]);",
    ].join("\n");
  }

  async #resolve(
    context: PluginContext,
    source: string,
    importer: string | undefined,
    kind: string,
  ): Promise<string | PartialResolvedId | null> {
    if (source === ENTRY) return ENTRY;
    if (WITHIN.test(source) && importer !== undefined && dependencyOf(importer) !== undefined) return null;
    const guest = this.#guest[source];
    if (guest !== undefined) return guest;
    const from = source.startsWith(GUEST) || importer === ENTRY ? HERE : importer; // P2
    const needed = source.startsWith("node:") ? "builtin" : await this.#find(context, source, from);
    if (typeof needed !== "string") return needed; // Whole: it says whether the module's evaluation has effects.
    const id = `${ABSENT}${source}`;
    this.#absent.set(id, { kind: needed, what: source });
    if (kind === "require-call" && importer !== undefined) this.#requires.add(importer, source);
    return { id, external: true, moduleSideEffects: false };
  }

  /** A package goes before a builtin of its name: `events` and `buffer` are installed by those who want them without Node. */
  async #find(context: PluginContext, source: string, importer: string | undefined): Promise<ResolvedId | AbsenceKind> {
    const found = await context.resolve(source, importer);
    if (found === null || found.external !== false) {
      if (isBuiltin(source)) return "builtin";
      return /^\.|^[\\/]/.test(source) ? "file" : "package";
    }
    const path = found.id.replace(/[?#].*$/, "");
    if (path.endsWith(".node")) return "native";
    return path.startsWith("\0") || CODE.test(path) ? found : "asset";
  }

  async #read(code: string, id: string): Promise<{ readonly code: string; readonly moduleType: "js" } | null> {
    if (!isAbsolute(id)) return null;
    if (!opensWithUseHost(code, id)) {
      if (dependencyOf(id) === undefined) this.#computed.set(id, computedImports(code, id)); // Others may have an answer.
      return null;
    }
    const module = { id: placeOf(id, this.#places), path: id };
    try {
      if (id === this.#places.entry) throw entryOnHost(module);
      this.#hostModules.set(id, module);
      return { code: await stubOf(module), moduleType: "js" };
    } catch (error) {
      if (error instanceof IsolateModuleError) this.#refused ??= error; // The bundler makes a text of it.
      throw error;
    }
  }

  #absencesIn(chunk: OutputChunk): readonly Absence[] {
    const asked = askedIn(chunk.code);
    return [...this.#absent].flatMap(([id, absent]) => {
      const isIn = (importer: string): boolean => (chunk.modules[importer]?.renderedLength ?? 0) > 0;
      const culprits = this.#graph.importersOf(id).filter((importer) => {
        if (dependencyOf(importer) === undefined && absent.kind !== "builtin") return true; // Node refuses it as well.
        return isIn(importer) && this.#isNeeded(importer, id, absent, asked);
      });
      const chain = this.#graph.shortestChain(culprits);
      return chain === undefined ? [] : [{ ...absent, chain }];
    });
  }

  #isNeeded(importer: string, id: string, { kind, what }: Absent, asked: Asked): boolean {
    const isOptional = kind === "package" && dependencyOf(importer) !== undefined; // Not there in Node either.
    if (this.#requires.has(importer, what)) return !isOptional && !this.#requires.areTries(importer, what);
    if (this.#graph.isStatic(importer, id)) return asked.marks.has(this.markOf(id));
    return !isOptional && asked.isImported(id);
  }

  #computedIn(chunk: OutputChunk): readonly Absence[] {
    return [...this.#computed].flatMap(([id, lines]) => {
      if (lines.length === 0 || (chunk.modules[id]?.renderedLength ?? 0) === 0) return [];
      return [
        {
          kind: "computed",
          what: "import()",
          chain: this.#graph.shortestChain([id]) ?? [id],
          detail: lines.join(", "),
        },
      ];
    });
  }

  #lostPlaces(): readonly Absence[] {
    const own = [...this.#metas].filter((id) => dependencyOf(id) === undefined); // Dependencies look whether it is there.
    return own.map((id) => ({ kind: "meta", what: "import.meta", chain: this.#graph.shortestChain([id]) ?? [id] }));
  }
}

function entryOnHost({ id }: HostModule): IsolateModuleError {
  return new IsolateModuleError(
    `${id} begins with "use host", and it is what is to run inside an isolate: move the functions that need Node to a ` +
      "module of their own, and import them from there.",
  );
}

interface Asked {
  readonly marks: ReadonlySet<string>;
  isImported(id: string): boolean;
}

/** What the code asks for: what its function is called with, and what it imports when it needs it. */
function askedIn(code: string): Asked {
  const call = /\}\)\(([^()]*)\);\s*$/.exec(code)?.[1] ?? "";
  return { marks: new Set(call.split(/,\s*/)), isImported: (id) => code.includes(`import(${JSON.stringify(id)})`) };
}
