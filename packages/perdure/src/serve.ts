// serve(): a runtime with its store, its executor and its two listeners, in this process.
//
// What `perdure start` and `perdure dev` run, and what programs embed. Everything is put together here and nowhere else.

import { setTimeout as sleep } from "node:timers/promises";
import {
  Catalog,
  createInProcessExecutor,
  createRoutedExecutor,
  createStateMigrator,
  describeEffect,
  EffectGuard,
  installWatches,
  openSqliteStore,
  RETENTION_MS_DEFAULT,
  Runtime,
  type GuardMode,
  type IsolateFigures,
  type IsolateOptions,
  type StateMigrator,
} from "@perdure/host";
import type { Limits, Store } from "@perdure/engine";
import {
  isPerdureError,
  ValidationError,
  type DurationMs,
  type Executor,
  type ServiceManifest,
} from "@perdure/protocol";
import { createRegistry, validate, type LogRecord, type Registry, type Servable } from "@perdure/sdk";
import { models } from "@perdure/agents";
import { providerFromHere } from "./provider-from-here.ts";
import { openSnapshotMemory, type SnapshotMemory } from "./snapshot-memory.ts";
import { callOnStart, needsForStored } from "./start-up.ts";
import { VERSION } from "./version.ts";
import { createServer, type AddressOptions, type ValidateInput } from "./server/index.ts";

export interface ServeOptions {
  /** Definitions, and what is made of them: schedules. */
  readonly definitions: readonly Servable[];
  /** Directory of the store. Default: `.perdure`. */
  readonly data?: string;
  /** Default: 127.0.0.1:8080. */
  readonly ingress?: AddressOptions;
  /** Default: 127.0.0.1:9070. */
  readonly admin?: AddressOptions;
  /** A port that is taken: use the next free one, or fail and say who has it (the default). */
  readonly onTaken?: "next" | "fail";
  /** Asked of every request. Without it only loopback addresses are served. */
  readonly token?: string;
  /** `dev` turns on the guard against effects outside of steps. Default: `start`. */
  readonly mode?: "dev" | "start";
  /** What the guard does with what it catches. Default: `warn`. */
  readonly guard?: GuardMode;
  /** How long finished runs are kept, where their handler says nothing. Default: a week. */
  readonly retentionMs?: DurationMs;
  readonly limits?: Partial<Limits>;
  /** How long a blocked attempt stays in memory before its run costs disk only. Default: a second. */
  readonly suspendAfterMs?: DurationMs;
  /**
   * Modules that export the definitions with `memory: "snapshot"`: paths or file URLs. Their code is bundled and loaded into
   * isolates: `sources: [new URL("./agents.ts", import.meta.url)]`.
   */
  readonly sources?: readonly (string | URL)[];
  /** Threads, limits and policy of isolates. */
  readonly isolates?: Pick<IsolateOptions, "threads" | "policy" | "limits" | "memoryMax">;
  /** Where `ctx.log` and warnings go. Default: one line each on standard error. */
  readonly log?: (line: string) => void;
}

export interface Serving {
  readonly ingressUrl: string;
  readonly adminUrl: string;
  readonly services: readonly ServiceManifest[];
  readonly dataDirectory: string;
  readonly runtime: Runtime;
  /** Takes nothing new, lets running steps finish for at most `graceMs`, then closes everything. */
  close(graceMs?: DurationMs): Promise<void>;
}

const GRACE_MS_DEFAULT = 10_000;
/** Large payloads whose runs are gone are swept this often. */
const COLLECT_EVERY_MS = 10 * 60_000;
const COLLECT_FIRST_MS = 5_000;

/** @throws StoreLockedError, StoreDamagedError, StoreVersionError, DefinitionError, PortTakenError, BindRefusedError */
export async function serve(options: ServeOptions): Promise<Serving> {
  const log = options.log ?? ((line: string): void => void process.stderr.write(`${line}\n`));
  const dataDirectory = options.data ?? ".perdure";
  const exported = createRegistry(options.definitions);
  const store = await openSqliteStore({ directory: dataDirectory });
  const guarding = options.mode === "dev" ? installGuard(options.guard ?? "warn", log) : null;
  try {
    const stored = await needsForStored(exported, store.reader);
    const hasModels = options.definitions.some((servable) => servable.kind === "models");
    const registry = createRegistry([
      ...options.definitions,
      ...stored,
      ...(hasModels ? [] : [models({ load: providerFromHere })]),
    ]);
    const executors = await openExecutors(options, { registry, store, guard: guarding?.guard, log });
    const runtime = openRuntime(options, { registry, store, executors, log });
    const { ingress, admin, onTaken = "fail", token } = options;
    const server = createServer({
      runtime,
      onTaken,
      version: VERSION,
      validateInput: inputValidator(registry),
      onError: (error) => log(`perdure: an unexpected error in a request: ${describeError(error)}`),
      ...(ingress === undefined ? {} : { ingress }),
      ...(admin === undefined ? {} : { admin }),
      ...(token === undefined ? {} : { token }),
    });
    // The ports first: a runtime that nobody can reach must not begin to work.
    const addresses = await server.start();
    try {
      await runtime.start();
      await callOnStart(runtime, exported.onStart, log, describeError);
    } catch (error) {
      await server.close(0);
      throw error;
    }
    const collecting = collectNowAndThen(store, log);
    return {
      ingressUrl: addresses.ingress.url,
      adminUrl: addresses.admin.url,
      services: registry.manifests,
      dataDirectory,
      runtime,
      close: async (graceMs = GRACE_MS_DEFAULT) => {
        collecting.abort();
        await server.close(graceMs);
        await executors.close();
        guarding?.uninstall();
      },
    };
  } catch (error) {
    guarding?.uninstall();
    await store.close();
    throw error;
  }
}

function openRuntime(
  options: ServeOptions,
  {
    registry,
    store,
    executors: { executor, deployment, migrateState, isolates },
    log,
  }: {
    readonly registry: Registry;
    readonly store: Store;
    readonly executors: Executors;
    readonly log: (line: string) => void;
  },
): Runtime {
  return new Runtime({
    store,
    catalog: new Catalog(registry, { retentionMs: options.retentionMs ?? RETENTION_MS_DEFAULT, deployment }),
    executor,
    migrateState,
    isolates,
    ...(options.limits === undefined ? {} : { limits: options.limits }),
    onTrouble: (error, retryInMs) =>
      log(`perdure: the engine stopped and starts again in ${retryInMs} ms: ${describeError(error)}`),
    onImageLost: (run, entry, reason) =>
      log(
        `perdure: the image at entry ${entry} of ${run} is of no use and was dropped; the run goes on from what is before it: ${reason}`,
      ),
    onMigrationGivenUp: (run, reason) =>
      log(`perdure: ${run} stays on its code, its migration was given up: ${reason}`),
  });
}

interface Executors {
  readonly executor: Executor;
  readonly deployment: SnapshotMemory["deployment"];
  readonly migrateState: StateMigrator;
  readonly isolates: () => IsolateFigures;
  close(): Promise<void>;
}

async function openExecutors(
  options: ServeOptions,
  {
    registry,
    store,
    guard,
    log,
  }: {
    readonly registry: Registry;
    readonly store: Store;
    readonly guard: EffectGuard | undefined;
    readonly log: (line: string) => void;
  },
): Promise<Executors> {
  const logRecord = (record: LogRecord): void => log(formatLog(record));
  const inProcess = createInProcessExecutor(registry, {
    log: logRecord,
    ...(guard === undefined ? {} : { guard }),
    ...(options.suspendAfterMs === undefined ? {} : { suspendAfterMs: options.suspendAfterMs }),
  });
  const snapshots = await openSnapshotMemory({
    registry,
    sources: options.sources ?? [],
    artifacts: store.artifacts,
    ports: inProcess.ports,
    log: logRecord,
    isolates: isolateOptions(options),
  });
  return {
    executor: createRoutedExecutor(inProcess, snapshots.executor),
    deployment: snapshots.deployment,
    migrateState: createStateMigrator(registry, snapshots.executor),
    isolates: () => snapshots.executor.figures,
    close: () => snapshots.executor.close(),
  };
}

/** One setting for both kinds of memory, where the kind's own says nothing. */
function isolateOptions({
  suspendAfterMs,
  isolates,
}: ServeOptions): Pick<IsolateOptions, "threads" | "policy" | "limits" | "memoryMax"> {
  return suspendAfterMs === undefined
    ? { ...isolates }
    : { ...isolates, policy: { warmMs: suspendAfterMs, ...isolates?.policy } };
}

function installGuard(
  mode: GuardMode,
  log: (line: string) => void,
): { readonly guard: EffectGuard; readonly uninstall: () => void } {
  const guard = new EffectGuard({
    mode,
    report: (effect) => log(`perdure: P0017 ${describeEffect(effect)} See docs/errors/P0017.md`),
  });
  return { guard, uninstall: installWatches(guard) };
}

/** Checks inputs at the door, so that a caller gets 400 and no run is made of them. */
function inputValidator(registry: Registry): ValidateInput {
  return (target, value) => {
    const schema = registry.find(target.service, target.handler)?.options.input;
    if (schema === undefined) return null;
    try {
      const checked = validate(schema, value, `the input of ${target.service}/${target.handler}`);
      return checked instanceof Promise ? checked.then(() => null, invalid) : null;
    } catch (error) {
      return invalid(error);
    }
  };
}

function invalid(error: unknown): ValidationError {
  if (isPerdureError(error) && error.code === ValidationError.code) return error as ValidationError;
  throw error;
}

function collectNowAndThen(
  store: { collectBlobs(options: { readonly sweep: boolean }): Promise<unknown> },
  log: (line: string) => void,
): AbortController {
  const stop = new AbortController();
  const collect = async (): Promise<void> => {
    // The first time with a sweep: a crash between a blob and its commit leaves files that no row names.
    for (let sweep = true; ; sweep = false) {
      await sleep(sweep ? COLLECT_FIRST_MS : COLLECT_EVERY_MS, undefined, { signal: stop.signal, ref: false });
      await store.collectBlobs({ sweep });
    }
  };
  collect().catch((error: unknown) => {
    if (!stop.signal.aborted)
      log(`perdure: large payloads that nobody needs could not be deleted: ${describeError(error)}`);
  });
  return stop;
}

function formatLog(record: LogRecord): string {
  const { level, message, fields, service, handler, key, run } = record;
  const where = key === null ? `${service}/${handler}` : `${service}/${key}/${handler}`;
  return `${level.padEnd(5)} ${where} ${run.slice(-6)}  ${message}${fields === undefined ? "" : ` ${JSON.stringify(fields)}`}`;
}

function describeError(error: unknown): string {
  if (isPerdureError(error)) return `${error.code} ${error.message}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
