// An isolate with the guest's globals in it, and a host that the test plays: time passes when it says so, requests are
// answered by it, and what is logged is kept.

import { fileURLToPath } from "node:url";
import { QuickJS, type Snapshot } from "quickjs-wasi";
import { bundleWith } from "../../src/isolate/bundle/bundle-module.ts";
import { evaluate, ISOLATE_OPTIONS } from "../../src/isolate/bundle/testing/isolate.ts";
import { writePackage } from "../../src/isolate/bundle/testing/user-package.ts";

export interface GlobalsIsolate {
  /** The value of an expression, awaited where it is a promise; JSON. */
  run(expression: string): unknown;
  /** Begins something, whose end is not waited for. */
  begin(statements: string): void;
  /** Lets time pass: timers fire in their order. */
  advance(ms: number): void;
  readonly logs: readonly (readonly [level: string, text: string])[];
  /** Its image, in another engine. */
  reborn(): Promise<GlobalsIsolate>;
}

const HOST_PORT = fileURLToPath(new URL("../../../sdk/src/guest/host-port.ts", import.meta.url));
const GUEST = `
  export function hostFunction(module, name) { return async (...args) => ({ asked: \`\${module}#\${name}\`, args }); }
  import { provideGuestHost } from ${JSON.stringify(HOST_PORT)};
  const timers = new Map();
  let lastTimer = 0, now = 0, lastByte = 0;
  globalThis.host = { logs: [], requests: [] };
  host.advance = (ms) => {
    const until = now + ms;
    const next = [...timers].filter(([, timer]) => timer.at <= until).sort((a, b) => a[1].at - b[1].at || a[0] - b[0])[0];
    if (next === undefined) { now = until; return false; }
    timers.delete(next[0]);
    const left = until - (now = next[1].at);
    next[1].callback();
    host.left = left;
    return true;
  };
  export const install = ([user]) => (globalThis.user = user, provideGuestHost({
    log: (level, text) => void host.logs.push([level, text]),
    setTimer: (callback, ms) => (timers.set(++lastTimer, { callback, at: now + ms }), lastTimer),
    clearTimer: (id) => void timers.delete(id),
    fetch: (request) => new Promise((resolve, reject) => void host.requests.push({ request, resolve, reject })),
    randomUUID: () => "00000000-0000-4000-8000-" + String(++lastByte).padStart(12, "0"),
    randomBytes: (count) => Uint8Array.from({ length: count }, () => ++lastByte & 255),
  }));
`;

const NOTHING = "console.log('loading'); export const a = 1;";
const bundled = new Map<string, Promise<string>>();

/** The bundle of a module, with the globals and the test's host. */
export function bundleOfGlobals(source: string = NOTHING): Promise<string> {
  const made = bundled.get(source) ?? bundle(source);
  bundled.set(source, made);
  return made;
}

async function bundle(source: string): Promise<string> {
  const ends: (() => void)[] = [];
  const user = writePackage({ "agents.ts": source, "guest.js": GUEST }, (end) => ends.push(end));
  try {
    return (await bundleWith({ entry: user.path("agents.ts") }, { "@perdure/sdk/guest": user.path("guest.js") })).code;
  } finally {
    for (const end of ends) end();
  }
}

/**
 * @param cleanUp is given what to do when the test is over.
 * @param source the user's module, whose exports are `user` inside.
 */
export async function globalsIsolate(cleanUp: (end: () => void) => void, source?: string): Promise<GlobalsIsolate> {
  const vm = await QuickJS.create(ISOLATE_OPTIONS);
  vm.evalCode(await bundleOfGlobals(source), "isolate.js").dispose();
  vm.executePendingJobs();
  return over(vm, cleanUp);
}

function over(vm: QuickJS, cleanUp: (end: () => void) => void): GlobalsIsolate {
  cleanUp(() => vm.dispose());
  const begin = (statements: string): void => {
    vm.evalCode(statements).dispose();
    vm.executePendingJobs();
  };
  return {
    run: (expression) => evaluate(vm, expression),
    begin,
    advance: (ms) => {
      for (let left = ms; evaluate(vm, `host.advance(${left})`) === true; ) left = evaluate(vm, "host.left") as number;
      vm.executePendingJobs();
    },
    get logs() {
      return evaluate(vm, "host.logs") as readonly (readonly [string, string])[];
    },
    reborn: async () => {
      const image: Snapshot = QuickJS.deserializeSnapshot(QuickJS.serializeSnapshot(vm.snapshot()));
      return over(await QuickJS.restore(image, ISOLATE_OPTIONS), cleanUp);
    },
  };
}
