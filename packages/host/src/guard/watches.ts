// What the guard watches, and how each thing is done instead. `installWatches` puts thin wrappers around the globals and
// subscribes to Node's diagnostics channels; the function that it returns takes all of it away again.

import diagnostics from "node:diagnostics_channel";
import fs from "node:fs";
import http from "node:http";
import https from "node:https";
import { syncBuiltinESMExports } from "node:module";
import timersPromises from "node:timers/promises";
import type { EffectGuard } from "./effect-guard.ts";

type Undo = () => void;
type AnyFunction = (...args: never[]) => unknown;

const FIXES = {
  time: "Write `await ctx.now()`, which is recorded, or read the clock inside `ctx.step(…)`.",
  random: "Write `ctx.random()` or `ctx.uuid()`, which replay the same values, or draw inside `ctx.step(…)`.",
  timer: "Write `await ctx.sleep(…)`: it survives restarts and costs nothing while it waits.",
  network: 'Put the request into `ctx.step("name", () => …)`: its result is recorded and it is not sent twice.',
  file: 'Put the write into `ctx.step("name", () => …)`: a replay then does not write again.',
  process: 'Put the command into `ctx.step("name", () => …)`: a replay then does not run it again.',
} as const;

/**
 * The AI SDK draws ids and looks at clocks wherever it is called: for its figures, and for answers that have no id and time of
 * their own. A model that is `durable` gives it both as they were recorded, so nothing of that reaches a command.
 */
const AI_SDK = /[\\/]node_modules[\\/](?:ai|@ai-sdk[\\/][^\\/]+)[\\/]/;

export function installWatches(guard: EffectGuard): Undo {
  const undo: Undo[] = [
    ...watchTime(guard),
    ...watchRandom(guard),
    ...watchTimers(guard),
    ...watchNetwork(guard),
    ...watchFiles(guard),
  ];
  syncBuiltinESMExports(); // Named imports of node:fs and node:timers/promises see the wrappers too.
  return () => {
    for (const restore of undo.reverse()) restore();
    syncBuiltinESMExports();
  };
}

/** Replaces `owner[name]` by a wrapper that first calls `before`. */
function wrap<T extends object, K extends keyof T & string>(
  owner: T,
  name: K,
  before: (args: readonly unknown[]) => void,
  around?: (call: () => unknown) => unknown,
): Undo {
  const original = owner[name] as AnyFunction;
  const wrapper = function (this: unknown, ...args: never[]): unknown {
    before(args);
    return around === undefined ? original.apply(this, args) : around(() => original.apply(this, args));
  };
  // Own properties (util.promisify's symbols, sub-functions) stay reachable.
  Object.defineProperties(wrapper, Object.getOwnPropertyDescriptors(original));
  owner[name] = wrapper as T[K];
  return () => {
    owner[name] = original as T[K];
  };
}

function watchTime(guard: EffectGuard): Undo[] {
  const OriginalDate = globalThis.Date;
  const undoNow = wrap(OriginalDate, "now", () => guard.notice("Date.now()", FIXES.time, { through: AI_SDK }));
  globalThis.Date = new Proxy(OriginalDate, {
    construct(target, args, newTarget) {
      if (args.length === 0) guard.notice("new Date()", FIXES.time, { through: AI_SDK });
      return Reflect.construct(target, args, newTarget === globalThis.Date ? target : newTarget) as object;
    },
    apply(target) {
      guard.notice("Date()", FIXES.time);
      return target();
    },
  });
  return [
    undoNow,
    () => {
      globalThis.Date = OriginalDate;
    },
    wrap(globalThis.performance, "now", () => guard.notice("performance.now()", FIXES.time, { through: AI_SDK })),
  ];
}

function watchRandom(guard: EffectGuard): Undo[] {
  return [
    wrap(Math, "random", () => guard.notice("Math.random()", FIXES.random, { through: AI_SDK })),
    wrap(globalThis.crypto, "randomUUID", () => guard.notice("crypto.randomUUID()", FIXES.random, { through: AI_SDK })),
    wrap(globalThis.crypto, "getRandomValues", () =>
      guard.notice("crypto.getRandomValues()", FIXES.random, { through: AI_SDK }),
    ),
  ];
}

function watchTimers(guard: EffectGuard): Undo[] {
  const notice = (name: string) => (): void => guard.notice(`${name}()`, FIXES.timer);
  return [
    wrap(globalThis, "setTimeout", notice("setTimeout")),
    wrap(globalThis, "setInterval", notice("setInterval")),
    wrap(timersPromises, "setTimeout", notice("timers/promises setTimeout")),
    wrap(timersPromises, "setInterval", notice("timers/promises setInterval")),
  ];
}

function watchNetwork(guard: EffectGuard): Undo[] {
  const undo = [
    wrap(
      globalThis,
      "fetch",
      ([input]) => guard.notice(`fetch(${JSON.stringify(requestUrl(input))})`, FIXES.network),
      (call) => guard.noticedAlready(call),
    ),
  ];
  for (const [name, module] of [
    ["http", http],
    ["https", https],
  ] as const) {
    for (const method of ["request", "get"] as const) {
      const before = ([target]: readonly unknown[]): void =>
        guard.notice(`${name}.${method}(${describeTarget(target)})`, FIXES.network);
      undo.push(wrap(module, method, before, (call) => guard.noticedAlready(call)));
    }
  }
  // Whatever goes another way: other clients, database drivers, raw sockets. Published while the caller waits.
  const channels: readonly (readonly [string, (message: unknown) => string])[] = [
    ["undici:request:create", (message) => `a request to ${describeRequest(message)}`],
    ["net.client.socket", () => "a network connection"],
  ];
  for (const [name, describe] of channels) {
    const listener = (message: unknown): void => guard.notice(describe(message), FIXES.network);
    diagnostics.subscribe(name, listener);
    undo.push(() => void diagnostics.unsubscribe(name, listener));
  }
  return undo;
}

function requestUrl(input: unknown): string {
  if (typeof input === "string") return input;
  if (input instanceof URL) return input.href;
  return input instanceof Request ? input.url : String(input);
}

function describeTarget(target: unknown): string {
  if (typeof target === "string") return JSON.stringify(target);
  if (target instanceof URL) return JSON.stringify(target.href);
  const { hostname, host, path } = (target ?? {}) as { hostname?: unknown; host?: unknown; path?: unknown };
  return JSON.stringify(`${text(hostname) ?? text(host) ?? "localhost"}${text(path) ?? "/"}`);
}

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

function describeRequest(message: unknown): string {
  const { request } = (message ?? {}) as { request?: { origin?: unknown; host?: unknown; path?: unknown } };
  return `${text(request?.origin) ?? text(request?.host) ?? "somewhere"}${text(request?.path) ?? ""}`;
}

const FILE_WRITES = [
  "appendFile",
  "copyFile",
  "cp",
  "link",
  "mkdir",
  "mkdtemp",
  "rename",
  "rm",
  "rmdir",
  "symlink",
  "truncate",
  "unlink",
  "utimes",
  "writeFile",
] as const;

function watchFiles(guard: EffectGuard): Undo[] {
  const undo: Undo[] = [];
  const around = (call: () => unknown): unknown => guard.noticedAlready(call);
  const watch = (owner: Record<string, unknown>, name: string, label: string): void => {
    if (typeof owner[name] !== "function") return;
    const before = ([path]: readonly unknown[]): void =>
      guard.notice(`${label}(${JSON.stringify(String(path))})`, FIXES.file);
    undo.push(wrap(owner as Record<string, AnyFunction>, name, before, around));
  };
  for (const name of FILE_WRITES) {
    watch(fs as unknown as Record<string, unknown>, name, `fs.${name}`);
    watch(fs as unknown as Record<string, unknown>, `${name}Sync`, `fs.${name}Sync`);
    watch(fs.promises as unknown as Record<string, unknown>, name, `fs.promises.${name}`);
  }
  watch(fs as unknown as Record<string, unknown>, "createWriteStream", "fs.createWriteStream");
  return undo;
}
