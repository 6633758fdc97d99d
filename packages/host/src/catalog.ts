// The catalog: which handlers a runtime serves, as the engine's Environment asks for them.

import type { Environment } from "@perdure/engine";
import {
  DEFAULT_RETRY,
  UnknownTargetError,
  type HandlerManifest,
  type ServiceManifest,
  type Target,
} from "@perdure/protocol";
import { childRunId, idempotentRunId, workflowRunId } from "./run-ids.ts";

/** What the catalog needs of the SDK's registry. */
export interface Targets {
  readonly manifests: readonly ServiceManifest[];
  /** Names close to one that does not exist, as `service/handler`, best first. */
  near(service: string, handler: string): readonly string[];
}

/** A week. */
export const RETENTION_MS_DEFAULT: number = 7 * 86_400_000;

export interface CatalogOptions {
  /** Names the code that runs start on now: one for all handlers, or one for each. */
  readonly deployment?: string | Environment["deployment"];
  readonly retentionMs?: number;
}

export class Catalog implements Environment {
  readonly targets: Targets;
  readonly deployment: Environment["deployment"];
  readonly #retentionMs: number;
  readonly #services = new Map<
    string,
    { readonly service: ServiceManifest; readonly handlers: Map<string, HandlerManifest> }
  >();

  /** The deployment of all handlers; null where it is not one. */
  readonly version: string | null;

  constructor(targets: Targets, options: CatalogOptions = {}) {
    const { deployment = null } = options;
    this.targets = targets;
    this.version = typeof deployment === "function" ? null : deployment;
    this.deployment = typeof deployment === "function" ? deployment : () => deployment;
    this.#retentionMs = options.retentionMs ?? RETENTION_MS_DEFAULT;
    for (const service of targets.manifests) {
      this.#services.set(service.name, {
        service,
        handlers: new Map(service.handlers.map((handler) => [handler.name, handler])),
      });
    }
  }

  service(name: string): ServiceManifest | undefined {
    return this.#services.get(name)?.service;
  }

  handler(target: Target): HandlerManifest | undefined {
    const found = this.#services.get(target.service);
    if (found === undefined) return undefined;
    const keyed = found.service.kind !== "service";
    return keyed === (target.key !== undefined) ? found.handlers.get(target.handler) : undefined;
  }

  readonly mode: Environment["mode"] = (target) => this.handler(target)?.mode ?? null;

  readonly listens: Environment["listens"] = (target) => this.handler(target)?.listens === true;

  readonly unknownTarget: Environment["unknownTarget"] = (target) => this.unknown(target).toFailure();

  unknown(target: Target): UnknownTargetError {
    const service = this.#services.get(target.service)?.service;
    const path = [target.service, target.key, target.handler].filter((part) => part !== undefined).join("/");
    if (service !== undefined && service.handlers.some((handler) => handler.name === target.handler)) {
      const how =
        service.kind === "service" ? `/${service.name}/{handler}, without a key` : `/${service.name}/{key}/{handler}`;
      return new UnknownTargetError(
        `${path} is not a target: ${service.name} is a ${service.kind} and is addressed as ${how}`,
      );
    }
    const near = this.targets.near(target.service, target.handler);
    const hint =
      near.length > 0
        ? `did you mean ${near.join(", ")}?`
        : `served are: ${[...this.#services.keys()].join(", ") || "nothing"}`;
    const what =
      service === undefined
        ? `there is no service "${target.service}"`
        : `${service.kind} "${service.name}" has no handler "${target.handler}"`;
    return new UnknownTargetError(`${what}; ${hint}`);
  }

  readonly childId: Environment["childId"] = childRunId;
  readonly idempotentId: Environment["idempotentId"] = idempotentRunId;
  readonly workflowId: Environment["workflowId"] = workflowRunId;
  readonly retryPolicy: Environment["retryPolicy"] = (target) => this.handler(target)?.retry ?? DEFAULT_RETRY;
  readonly retentionMs: Environment["retentionMs"] = (target) => this.handler(target)?.retentionMs ?? this.#retentionMs;
}
