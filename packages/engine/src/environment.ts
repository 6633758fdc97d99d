// What a decision may ask besides the view: facts that do not change while a deployment is loaded. All of it is pure:
// the same question has the same answer, in the host and in the simulator.

import { assert, type Failure, type HandlerMode, type RetryPolicy, type RunId, type Target } from "@perdure/protocol";

export interface Environment {
  /** How a handler runs; null where there is no such handler. */
  mode(target: Target): HandlerMode | null;
  /** Whether a run of it that has its key's turn is told what queues behind it. */
  listens(target: Target): boolean;
  /** The failure for a target that does not exist, naming near matches. */
  unknownTarget(target: Target): Failure;
  /** Id of the run that command `command` of `parent` starts in this incarnation of the parent. */
  childId(parent: RunId, incarnation: number, command: number, target: Target): RunId;
  /** Id of the run that this idempotency key names (E9). */
  idempotentId(target: Target, idempotencyKey: string): RunId;
  /** Id of the one run of a workflow key. */
  workflowId(service: string, key: string): RunId;
  retryPolicy(target: Target): RetryPolicy;
  /** How long a finished run is kept. */
  retentionMs(target: Target): number;
  /** Names the code that a run of it starts on now; a run keeps the one that it started on. */
  deployment(target: Target): string | null;
}

const GENERATIONS_MAX = 1_048_576;

/**
 * A number that is another one after each restart of a run, and where the id of a deleted run is used anew: the children
 * of its former lives may still be there, and theirs are other ids.
 */
export function incarnation(run: { readonly seq: number; readonly generation: number }): number {
  assert(run.generation < GENERATIONS_MAX, "a run is restarted less than a million times");
  return run.seq * GENERATIONS_MAX + run.generation;
}

/** The id that a submission gets where it is not random, else null. */
export function derivedId(
  environment: Environment,
  target: Target,
  idempotencyKey: string | null,
  mode: HandlerMode,
): RunId | null {
  if (mode === "workflow") return environment.workflowId(target.service, target.key ?? "");
  return idempotencyKey === null ? null : environment.idempotentId(target, idempotencyKey);
}
