// The SDK's handlers in isolates, in simulated time: the executor that ships, in this thread, with a policy of images that
// the seed draws. Bundle and base are the same for all worlds, and made once.

import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import type { Artifact, Artifacts } from "@perdure/engine";
import {
  bundleModule,
  createIsolateExecutor,
  type HostFunction,
  type IsolateBundle,
  type IsolateExecutor,
} from "@perdure/host";
import { assert, type RunId } from "@perdure/protocol";
import type { StepInfo } from "@perdure/sdk";
import type { Effects } from "../effects.ts";
import type { ExecutorParameters } from "../parameters.ts";
import type { Program, StepNode } from "../program.ts";
import type { Random } from "../random.ts";

export interface IsolateSimPorts {
  readonly programs: readonly Program[];
  readonly settings: ExecutorParameters;
  readonly random: Random;
  readonly effects: Effects;
  now(): number;
  after(ms: number, callback: () => void): () => void;
  executed(run: RunId, command: number): void;
  saw(run: RunId, count: number, digest: number): void;
}

/** Kept by all worlds: what is in it never changes. */
const artifacts = new Map<string, Artifact>();
let making: Promise<IsolateBundle> | undefined;
let made: IsolateBundle | undefined;

const kept: Artifacts = {
  put: async (kind, bytes, about) => {
    const hash = createHash("sha256").update(bytes).digest("hex");
    artifacts.set(hash, { kind, bytes, about });
    return hash;
  },
  get: async (hash) => artifacts.get(hash) ?? null,
  list: async () => [...artifacts].map(([hash, { bytes, ...rest }]) => ({ ...rest, hash, size: bytes.length })),
};

/** Before the first world of the kind: what it does takes real time. @returns the bundle's hash */
export async function prepareIsolates(): Promise<string> {
  making ??= prepare();
  made = await making;
  return made.hash;
}

async function prepare(): Promise<IsolateBundle> {
  const file = import.meta.url.endsWith(".ts") ? "./isolated-handlers.ts" : "./isolated-handlers.js";
  const bundle = await bundleModule({ entry: fileURLToPath(new URL(file, import.meta.url)) });
  await kept.put("bundle", Buffer.from(bundle.code), { entry: "isolated-handlers" });
  const executor = createIsolateExecutor({ artifacts: kept, hostFunctions: new Map(), log: () => {}, threads: 0 });
  await executor.prepare(bundle.hash);
  await executor.close();
  return bundle;
}

const WARM_MS = { eager: 0, delayed: 60, never: Number.POSITIVE_INFINITY } as const;
/** Real time, of which there is enough. */
const TURN_MS = 60_000;

/** Of one life of a host. */
export function openIsolates(ports: IsolateSimPorts): IsolateExecutor {
  assert(made !== undefined, "isolates are prepared before the first world begins");
  const bundle = made;
  const { random, settings } = ports;
  const suspending =
    settings.suspending === "mixed" ? random.pick(["eager", "never", "delayed"] as const) : settings.suspending;
  return createIsolateExecutor({
    artifacts: kept,
    hostFunctions: handsOf(bundle, ports),
    threads: 0,
    limits: { turnMs: TURN_MS },
    policy: {
      warmMs: WARM_MS[suspending],
      warmMax: random.pick([1, 4, 1_000]),
      everyEntries: random.pick([1, 1, 3, 20]),
      afterCallMs: random.pick([20, 1_000_000]),
      tailEntries: random.pick([0, 2]),
      tailRunMs: Number.POSITIVE_INFINITY, // Real time is no chance of the seed's (W2).
    },
    ports: {
      now: ports.now,
      delay: ports.after,
      randomBytes: (count) => Buffer.from(Array.from({ length: count }, () => random.int(0, 255))),
    },
    log: ({ run, fields }) => {
      const { count, digest } = fields as { readonly count: number; readonly digest: number };
      ports.saw(run, count, digest);
    },
  });
}

function handsOf({ hostModules }: IsolateBundle, ports: IsolateSimPorts): ReadonlyMap<string, HostFunction> {
  const { random, settings, effects, programs } = ports;
  const hands: Readonly<Record<string, (info: StepInfo, about: never) => unknown>> = {
    programOf: (info, number: number) => {
      const { run, command } = stepOf(info);
      ports.executed(run, command);
      return programs[number] ?? null;
    },
    execute: (info, node: StepNode) => {
      const { run, generation, command } = stepOf(info);
      ports.executed(run, command);
      const outcome = effects.execute(run, generation, command, node);
      return new Promise((resolve) => void ports.after(random.int(0, settings.stepMsMax), () => resolve(outcome)));
    },
  };
  return new Map(
    hostModules.flatMap(({ id }) =>
      Object.entries(hands).map(([name, fn]) => [`${id}#${name}`, fn as HostFunction] as const),
    ),
  );
}

/** `run_…-4`, and `run_….1-4` of a run that was restarted once. */
function stepOf({ idempotencyKey }: StepInfo): {
  readonly run: RunId;
  readonly generation: number;
  readonly command: number;
} {
  const [, run, generation, command] = /^(.*?)(?:\.(\d+))?-(\d+)$/.exec(idempotencyKey) ?? [];
  return { run: run as RunId, generation: Number(generation ?? 0), command: Number(command) };
}
