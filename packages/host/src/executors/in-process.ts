// The in-process executor: the user's functions in this very process, by the SDK's replay machine over Node's ports.

import type { Attempt, AttemptReplies, AttemptStart, Executor } from "@perdure/protocol";
import { createExecutor, type ExecutorOptions, type LogRecord, type Registry, type SdkPorts } from "@perdure/sdk";
import { hostFetch } from "../fetch.ts";
import type { EffectGuard } from "../guard/effect-guard.ts";

export interface InProcessOptions extends ExecutorOptions {
  readonly log: (record: LogRecord) => void;
  /** While developing: catches effects outside of steps. */
  readonly guard?: EffectGuard;
}

export interface InProcessExecutor extends Executor {
  /** What its handlers run on: what the code of a process shares is found by them. */
  readonly ports: SdkPorts;
}

export function createInProcessExecutor(registry: Registry, options: InProcessOptions): InProcessExecutor {
  const { log, guard, ...rest } = options;
  const ports = nodePorts(log);
  if (guard === undefined) return { ports, start: starting(createExecutor(registry, ports, rest)) };
  const { runHandler, runStep, insideStep, outside } = guard;
  const ownPorts: SdkPorts = {
    ...ports,
    // Callbacks of these are the runtime's own, whoever's code they were asked for in.
    afterMicrotasks: (callback) => outside(() => ports.afterMicrotasks(callback)),
    afterTicks: (callback) => outside(() => void immediately(callback)),
    delay: (ms, callback) => outside(() => ports.delay(ms, callback)),
    log: (record) => outside(() => log(record)),
    runHandler,
    runStep,
    insideStep,
  };
  return { ports: ownPorts, start: starting(outsideOf(guard, createExecutor(registry, ownPorts, rest))) };
}

function starting(executor: Executor): Executor["start"] {
  return (start, replies) => executor.start(start, replies);
}

// The originals, taken before a guard wraps the globals: what the runtime itself asks is no handler's effect.
const { now } = Date;
const { random } = Math;
const { setTimeout: later, clearTimeout: cancel, setImmediate: immediately } = globalThis;

function nodePorts(log: (record: LogRecord) => void): SdkPorts {
  return {
    now,
    random,
    // From within a microtask, a tick comes when the microtask queue has run dry.
    afterMicrotasks: (callback) => queueMicrotask(() => process.nextTick(callback)),
    afterTicks: (callback) => void immediately(callback),
    delay: (ms, callback) => {
      const timer = later(callback, ms);
      return () => cancel(timer);
    },
    createAbortController: () => new AbortController(),
    fetch: hostFetch,
    log,
  };
}

/** What an attempt tells the engine is the runtime's work: it leaves the handler's scope (G4). */
function outsideOf(guard: EffectGuard, executor: Executor): Executor {
  const leave = (replies: AttemptReplies): AttemptReplies => ({
    command: (...args) => guard.outside(() => replies.command(...args)),
    propose: (...args) => guard.outside(() => replies.propose(...args)),
    append: (...args) => guard.outside(() => replies.append(...args)),
    retrying: (...args) => guard.outside(() => replies.retrying(...args)),
    end: (...args) => guard.outside(() => replies.end(...args)),
    suspend: (...args) => guard.outside(() => replies.suspend(...args)),
    error: (...args) => guard.outside(() => replies.error(...args)),
    image: (...args) => guard.outside(() => replies.image(...args)),
    imageUnusable: (...args) => guard.outside(() => replies.imageUnusable(...args)),
  });
  return { start: (start: AttemptStart, replies: AttemptReplies): Attempt => executor.start(start, leave(replies)) };
}
