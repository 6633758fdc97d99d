// A bare isolate for tests: QuickJS, as it is shipped, with a script in it.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { QuickJS } from "quickjs-wasi";

declare const WebAssembly: { readonly Module: new (bytes: Uint8Array) => object };

interface IsolateOptions {
  readonly wasm: object;
  readonly maxStackSize: number;
}

export const ISOLATE_OPTIONS: IsolateOptions = {
  wasm: new WebAssembly.Module(readFileSync(fileURLToPath(import.meta.resolve("quickjs-wasi/quickjs.wasm")))),
  maxStackSize: 512 * 1024, // With more, or without, an overflow damages the next image.
};

export interface TestIsolate {
  /** The value of an expression, awaited where it is a promise; JSON. */
  evaluate(expression: string): unknown;
}

/** @param cleanUp is given what to do when the test is over. */
export async function isolateOf(script: string, cleanUp: (end: () => void) => void): Promise<TestIsolate> {
  const vm = await QuickJS.create(ISOLATE_OPTIONS);
  cleanUp(() => vm.dispose());
  vm.evalCode(script, "isolate.js").dispose();
  vm.executePendingJobs();
  return { evaluate: (expression) => evaluate(vm, expression) };
}

/** Rejections and what is thrown come as `{ threw: message }`. */
export function evaluate(vm: QuickJS, expression: string): unknown {
  vm.evalCode(
    `globalThis.outcome = undefined;
     (async () => (${expression}))().then(
       (value) => { globalThis.outcome = JSON.stringify({ value }); },
       (error) => { globalThis.outcome = JSON.stringify({ value: { threw: String(error?.message ?? error) } }); },
     );`,
  ).dispose();
  vm.executePendingJobs();
  const outcome = vm
    .evalCode("globalThis.outcome")
    .consume((handle) => (handle.isUndefined ? undefined : handle.toString()));
  if (outcome === undefined) throw new Error(`${expression} is still waiting when all jobs are done`);
  return (JSON.parse(outcome) as { readonly value?: unknown }).value;
}
