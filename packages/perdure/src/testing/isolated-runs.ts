// Runs with `memory: "snapshot"` in a test world: isolates in this thread, on the world's clock
// ============================================================================================
// The real executor and the real engine of isolates. What is chosen is when images are taken, and which of them are lost on
// the way to the store: a run has to come to the same end with all of them, with none, and with any.
//
// Bundles and bases are made once per process, as a world is opened hundreds of times on the same sources.

import { createHash } from "node:crypto";
import type { Artifact, Artifacts, MemoryStorage } from "@perdure/engine";
import {
  bundleModule,
  type HostFunction,
  type ImagePolicy,
  type IsolateBundle,
  type IsolateExecutor,
  type IsolateFigures,
  type ThreadPorts,
} from "@perdure/host";
import type { Attempt, AttemptReplies, AttemptStart, Executor, Result, RunId, Target } from "@perdure/protocol";
import {
  isDefinition,
  type LogRecord,
  type MemoryMode,
  type Registry,
  type SdkPorts,
  type Servable,
  type StateMigration,
} from "@perdure/sdk";
import { openSnapshotMemory } from "../snapshot-memory.ts";

/**
 * When runs are imaged. `every`: at each entry where one can be taken. `none`: never, so that every start is a replay.
 * `random:<seed>`: at about half of those entries, the same ones for the same seed. Or a policy, as a server has it.
 */
export type TestImages = "every" | "none" | `random:${number}` | Partial<ImagePolicy>;

export interface IsolatedRunsOptions {
  readonly services: readonly Servable[];
  readonly registry: Registry;
  readonly sources: readonly (string | URL)[];
  readonly images: TestImages;
  readonly mode: MemoryMode | undefined;
  readonly storage: MemoryStorage;
  readonly ports: ThreadPorts;
  /** Of handlers in this process. */
  readonly shared: SdkPorts;
  readonly log: (record: LogRecord) => void;
  /** Around the functions of host modules. */
  readonly around: (fn: HostFunction) => HostFunction;
  /** A try of a step ended: in a result, or in an error that is retried. */
  readonly ran: (start: AttemptStart, command: number, name: string) => void;
  /** An image is on its way to the store. */
  readonly imaged: () => void;
}

export class IsolatedRuns implements Executor {
  readonly deployment: (target: Target) => string | null;
  readonly #executor: IsolateExecutor;
  readonly #options: IsolatedRunsOptions;
  readonly #keeps: (run: RunId, entry: number) => boolean;

  private constructor(
    executor: IsolateExecutor,
    deployment: (target: Target) => string | null,
    options: IsolatedRunsOptions,
  ) {
    this.#executor = executor;
    this.deployment = deployment;
    this.#options = options;
    this.#keeps = keeping(options.images);
  }

  /** @throws DefinitionError, IsolateModuleError */
  static async open(options: IsolatedRunsOptions): Promise<IsolatedRuns> {
    const { registry, sources, storage, log, around, ports, shared, images } = options;
    const memory = await openSnapshotMemory({
      registry,
      sources,
      artifacts: artifactsOf(storage),
      ports: shared,
      log,
      around,
      bundle: bundleOnce,
      wanted: wanted(options),
      isolates: { threads: 0, ports, policy: policyOf(images) },
    });
    return new IsolatedRuns(memory.executor, memory.deployment, options);
  }

  get busy(): boolean {
    return this.#executor.busy;
  }

  get figures(): IsolateFigures {
    return this.#executor.figures;
  }

  start(start: AttemptStart, replies: AttemptReplies): Attempt {
    return this.#executor.start(start, this.#watched(start, replies));
  }

  migrateState(bundle: string, migration: StateMigration): Promise<Result> {
    return this.#executor.migrateState(bundle, migration);
  }

  close(): Promise<void> {
    return this.#executor.close();
  }

  #watched(start: AttemptStart, replies: AttemptReplies): AttemptReplies {
    const { ran, imaged } = this.#options;
    const names = new Map<number, string>();
    for (const entry of start.entries)
      if (entry.kind === "command" && entry.command.type === "step") names.set(entry.id, entry.command.name);
    const ended = (id: number): void => ran(start, id, names.get(id) ?? `command ${id}`);
    return {
      command: (id, command, result, items) => {
        if (command.type === "step") names.set(id, command.name);
        replies.command(id, command, result, items);
      },
      propose: (id, result) => {
        ended(id);
        replies.propose(id, result);
      },
      retrying: (id, tries, failure, retryAt) => {
        ended(id);
        replies.retrying(id, tries, failure, retryAt);
      },
      append: (stream, items, writer) => replies.append(stream, items, writer),
      end: (result) => replies.end(result),
      suspend: (awaiting, entriesSeen) => replies.suspend(awaiting, entriesSeen),
      error: (failure) => replies.error(failure),
      image: (image) => {
        if (!this.#keeps(start.run, image.entry)) return;
        imaged();
        replies.image(image);
      },
      imageUnusable: (failure) => replies.imageUnusable(failure),
    };
  }
}

/** With a mode for the whole world, it is for those that were named: what they need beside is served as it is. */
function wanted({ services, mode }: IsolatedRunsOptions): (definition: Registry["definitions"][number]) => boolean {
  if (mode === "journal") return () => false;
  const named = services.flatMap((servable) => (isDefinition(servable) ? [servable.name] : []));
  return ({ name, options: { memory } }) => memory === "snapshot" || (mode === "snapshot" && named.includes(name));
}

/** Only what was asked for takes images: else real time that calls take, or how many runs there are, would decide it. */
const NEVER: Partial<ImagePolicy> = {
  everyEntries: Number.POSITIVE_INFINITY,
  afterCallMs: Number.POSITIVE_INFINITY,
  warmMax: Number.POSITIVE_INFINITY,
  tailEntries: Number.POSITIVE_INFINITY,
  tailRunMs: Number.POSITIVE_INFINITY,
};

function policyOf(images: TestImages): Partial<ImagePolicy> {
  if (typeof images !== "string") return images;
  return images === "none" ? NEVER : { ...NEVER, everyEntries: 1 };
}

function keeping(images: TestImages): (run: RunId, entry: number) => boolean {
  if (images === "none") return () => false;
  if (typeof images !== "string" || images === "every") return () => true;
  return (run, entry) => isHeads(`${images} ${run} ${entry}`);
}

/** FNV-1a. */
function isHeads(text: string): boolean {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return ((hash ^ (hash >>> 15)) & 1) === 1;
}

const bundles = new Map<string, Promise<IsolateBundle>>();

function bundleOnce(entry: string): Promise<IsolateBundle> {
  const made = bundles.get(entry) ?? bundleModule({ entry });
  bundles.set(entry, made);
  return made;
}

const bases = new Map<string, Artifact>();
const HASHES: WeakMap<Uint8Array, string> = new WeakMap();

/**
 * Artifacts of a storage, with the bases that other worlds of this process have made. They are not hashed each time that
 * they are read, as the memory store does: it has no platform whose hash is fast, and there are megabytes of them.
 */
function artifactsOf({ data: { artifacts } }: MemoryStorage): Artifacts {
  for (const [hash, base] of bases) artifacts.set(hash, base);
  return {
    put: async (kind, bytes, about) => {
      const hash = HASHES.get(bytes) ?? createHash("sha256").update(bytes).digest("hex");
      HASHES.set(bytes, hash);
      const artifact: Artifact = { kind, bytes, about };
      if (!artifacts.has(hash)) artifacts.set(hash, artifact);
      if (kind === "base") bases.set(hash, artifact);
      return hash;
    },
    get: async (hash) => artifacts.get(hash) ?? null,
    list: async () => [...artifacts].map(([hash, { bytes, ...rest }]) => ({ ...rest, hash, size: bytes.length })),
  };
}
