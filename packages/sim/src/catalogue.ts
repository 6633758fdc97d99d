// What can be called in a simulated world: one service, one object, one workflow, whose handlers run the program that
// their input names. Ids are functions of what they are derived from, as in a host (E9).

import type { Environment } from "@perdure/engine";
import {
  DEFAULT_RETRY,
  encodeRunId,
  UnknownTargetError,
  type Failure,
  type HandlerManifest,
  type HandlerMode,
  type RetryPolicy,
  type RunId,
  type ServiceManifest,
  type Target,
} from "@perdure/protocol";
import type { Callee, Kind } from "./program.ts";
import { hashText } from "./random.ts";

const MODES: Readonly<Record<string, HandlerMode>> = {
  "svc/run": "service",
  "obj/run": "exclusive",
  "obj/peek": "shared",
  "wf/run": "workflow",
  "wf/poke": "shared",
};

const HANDLERS: Readonly<Record<Kind, readonly [string, string]>> = {
  service: ["svc", "run"],
  object: ["obj", "run"],
  shared: ["obj", "peek"],
  workflow: ["wf", "run"],
  poke: ["wf", "poke"],
};

export function targetOf(callee: Pick<Callee, "kind" | "key">): Target {
  const [service, handler] = HANDLERS[callee.kind];
  return callee.key === null ? { service, handler } : { service, handler, key: callee.key };
}

/** Of what does not say otherwise: longer than any world lasts. */
const RETENTION_MS = 86_400_000;

/** A run id that is a function of `text`. */
export function runIdOf(text: string): RunId {
  const bytes = new Uint8Array(24);
  const view = new DataView(bytes.buffer);
  for (let word = 0; word < 6; word += 1) view.setUint32(word * 4, hashText(text, word + 1));
  return encodeRunId(bytes);
}

export interface CatalogueSettings {
  readonly retry: Partial<RetryPolicy>;
  readonly retentionMs: number;
  /** The code of a target. */
  readonly deployment: (target: Target) => string;
  /** Served beside the programs. */
  readonly manifests?: readonly ServiceManifest[];
}

export class Catalogue implements Environment {
  readonly #deployment: (target: Target) => string;
  readonly #retry: RetryPolicy;
  readonly #retentionMs: number;
  readonly #handlers: ReadonlyMap<string, HandlerManifest>;

  constructor(settings: CatalogueSettings) {
    this.#deployment = settings.deployment;
    this.#retry = { ...DEFAULT_RETRY, ...settings.retry };
    this.#retentionMs = settings.retentionMs;
    const handlers = (settings.manifests ?? []).flatMap(({ name, handlers: all }) =>
      all.map((handler) => [`${name}/${handler.name}`, handler] as const),
    );
    this.#handlers = new Map(handlers);
  }

  #handler(target: Target): HandlerManifest | undefined {
    return this.#handlers.get(`${target.service}/${target.handler}`);
  }

  mode(target: Target): HandlerMode | null {
    return MODES[`${target.service}/${target.handler}`] ?? this.#handler(target)?.mode ?? null;
  }

  listens(target: Target): boolean {
    return (target.service === "obj" && target.handler === "run") || this.#handler(target)?.listens === true;
  }

  unknownTarget(target: Target): Failure {
    return new UnknownTargetError(`there is no handler ${target.service}/${target.handler}`).toFailure();
  }

  childId(parent: RunId, incarnation: number, command: number, target: Target): RunId {
    return runIdOf(`child ${parent} ${incarnation} ${command} ${target.service}`);
  }

  idempotentId(target: Target, idempotencyKey: string): RunId {
    return runIdOf(`idempotent ${target.service}/${target.handler}/${target.key ?? ""} ${idempotencyKey}`);
  }

  workflowId(service: string, key: string): RunId {
    return runIdOf(`workflow ${service}/${key}`);
  }

  retryPolicy(target: Target): RetryPolicy {
    const handler = this.#handler(target);
    return handler === undefined
      ? this.#retry
      : (handler.retry ?? { ...this.#retry, maxAttempts: Number.POSITIVE_INFINITY });
  }

  deployment(target: Target): string {
    return this.#deployment(target);
  }

  retentionMs(target: Target): number {
    const handler = this.#handler(target);
    return handler === undefined ? this.#retentionMs : (handler.retentionMs ?? RETENTION_MS);
  }
}
