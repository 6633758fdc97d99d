// The in-process executor: the user's functions in this very process, by the SDK's replay machine over Node's ports.

import type { Attempt, AttemptReplies, AttemptStart, Executor } from "@perdure/protocol";
import { createExecutor, type ExecutorOptions, type LogRecord, type Registry, type SdkPorts } from "@perdure/sdk";
import type { EffectGuard } from "../guard/effect-guard.ts";

export interface InProcessOptions extends ExecutorOptions {
  readonly log: (record: LogRecord) => void;
  /** While developing: catches effects outside of steps. */
  readonly guard?: EffectGuard;
}

export function createInProcessExecutor(registry: Registry, options: InProcessOptions): Executor {
  const { log, guard, ...rest } = options;
  const ports = nodePorts(log);
  if (guard === undefined) return createExecutor(registry, ports, rest);
  const { runHandler, runStep, insideStep } = guard;
  return outsideOf(guard, createExecutor(registry, { ...ports, runHandler, runStep, insideStep }, rest));
}

function nodePorts(log: (record: LogRecord) => void): SdkPorts {
  const { now } = Date; // The originals: the guard wraps the globals, and these are the runtime's own.
  const { random } = Math;
  const { setTimeout: later, clearTimeout: cancel } = globalThis;
  return {
    now: () => now(),
    random: () => random(),
    // From within a microtask, a tick comes when the microtask queue has run dry.
    afterMicrotasks: (callback) => queueMicrotask(() => process.nextTick(callback)),
    delay: (ms, callback) => {
      const timer = later(callback, ms);
      return () => cancel(timer);
    },
    createAbortController: () => new AbortController(),
    log,
  };
}

/** What an attempt tells the engine is the runtime's work: it leaves the handler's scope (G4). */
function outsideOf(guard: EffectGuard, executor: Executor): Executor {
  const leave = (replies: AttemptReplies): AttemptReplies => ({
    command: (...args) => guard.outside(() => replies.command(...args)),
    propose: (...args) => guard.outside(() => replies.propose(...args)),
    retrying: (...args) => guard.outside(() => replies.retrying(...args)),
    end: (...args) => guard.outside(() => replies.end(...args)),
    suspend: (...args) => guard.outside(() => replies.suspend(...args)),
    error: (...args) => guard.outside(() => replies.error(...args)),
  });
  return { start: (start: AttemptStart, replies: AttemptReplies): Attempt => executor.start(start, leave(replies)) };
}
