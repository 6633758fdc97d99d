// The SDK's own executor on simulated ports: handlers run as they do in production, in simulated time.

import { type AnyDefinition, createExecutor, createRegistry, type SdkPorts } from "@perdure/sdk";
import type { Attempt, AttemptReplies, AttemptStart, Executor, RunId } from "@perdure/protocol";
import type { Effects } from "../effects.ts";
import type { ExecutorParameters } from "../parameters.ts";
import type { Program } from "../program.ts";
import type { Random } from "../random.ts";
import { defineHandlers, type HandlerPorts } from "./handlers.ts";

export interface SdkSimPorts extends Pick<HandlerPorts, "idempotentId" | "workflowId"> {
  readonly settings: ExecutorParameters;
  readonly random: Random;
  readonly effects: Effects;
  now(): number;
  after(ms: number, callback: () => void): () => void;
  attemptFails(): number;
  /** What is served beside the programs. */
  readonly more: readonly AnyDefinition[];
  /** Called with the ports of the handlers, before the first of them starts. */
  provide(ports: SdkPorts): void;
  executed(run: RunId, command: number): void;
  saw(run: RunId, count: number, digest: number): void;
  readonly programs: readonly Program[];
}

const SUSPEND_AFTER_MS = { eager: 0, delayed: 60, never: Number.POSITIVE_INFINITY } as const;

export function createSdkExecutor(ports: SdkSimPorts): Executor {
  const { random, settings } = ports;
  const executing = new Map<RunId, number>();
  const generations = new Map<RunId, number>();
  let begun = "" as RunId;
  let step: { readonly run: RunId; readonly command: number } | null = null;
  const definitions = defineHandlers({
    programOf: (_, number) => ports.programs[number],
    idempotentId: ports.idempotentId,
    workflowId: ports.workflowId,
    saw: (_, run, count, digest) => ports.saw(run, count, digest),
    itself: () => begun,
    fails: () => random.chance(ports.attemptFails()),
    execute: (run, node) => {
      const command = step?.run === run ? step.command : (executing.get(run) ?? 0);
      const outcome = ports.effects.execute(run, generations.get(run) ?? 0, command, node);
      return new Promise((resolve) => void ports.after(random.int(0, settings.stepMsMax), () => resolve(outcome)));
    },
  });
  const sdkPorts: SdkPorts = {
    now: ports.now,
    random: () => random.next(),
    afterMicrotasks: (callback) => process.nextTick(callback),
    delay: (ms, callback) => ports.after(ms, callback),
    createAbortController: () => new AbortController(),
    runHandler: (scope, body) => {
      begun = scope.run;
      return body();
    },
    runStep: (scope, body) => {
      step = scope;
      executing.set(scope.run, scope.command);
      ports.executed(scope.run, scope.command);
      try {
        const value = body();
        return scope.step === "approval id" ? (approvalId(random) as typeof value) : value; // W2: no chance but the seed's.
      } finally {
        step = null;
      }
    },
  };
  const policy =
    settings.suspending === "mixed" ? random.pick(["eager", "never", "delayed"] as const) : settings.suspending;
  ports.provide(sdkPorts);
  const inner = createExecutor(createRegistry([...definitions, ...ports.more]), sdkPorts, {
    suspendAfterMs: SUSPEND_AFTER_MS[policy],
  });
  return {
    start(start: AttemptStart, replies: AttemptReplies): Attempt {
      generations.set(start.run, start.generation);
      return inner.start(start, replies);
    },
  };
}

/** In the place of an id that was drawn from the platform's secrets. */
function approvalId(random: Random): string {
  const words = Array.from({ length: 5 }, () => random.int(0, 0xffff_ffff).toString(16).padStart(8, "0"));
  return `apr_${words.join("")}`;
}
