// Tests of what code sees, run in both modes of memory: by the executor in this process, and by the guest of an isolate.

import { test } from "vitest";
import { createExecutor } from "../src/attempt/executor.ts";
import { createGuestExecutor } from "./guest-executor.ts";

type CreateExecutor = typeof createExecutor;

let current: CreateExecutor = createExecutor;

/** Of the mode that the running test is in. */
export const executorOfMode: CreateExecutor = (registry, ports, options) => current(registry, ports, options);

export const inGuest = (): boolean => current === createGuestExecutor;

type Body = () => void | Promise<void>;

function run(name: string, body: Body, create: CreateExecutor, timeoutMs: number | undefined): void {
  test(
    name,
    async () => {
      current = create;
      try {
        await body();
      } finally {
        current = createExecutor;
      }
    },
    timeoutMs,
  );
}

function inBoth(name: string, body: Body, timeoutMs?: number): void {
  run(name, body, createExecutor, timeoutMs);
  run(`${name}, in a guest`, body, createGuestExecutor, timeoutMs);
}

/** @param why the guest is different by design. */
function inProcess(name: string, why: string, body: Body): void {
  if (why === "") throw new Error(`say why "${name}" is not for guests`);
  run(name, body, createExecutor, undefined);
}

export const it: typeof inBoth & { readonly inProcess: typeof inProcess } = Object.assign(inBoth, { inProcess });
