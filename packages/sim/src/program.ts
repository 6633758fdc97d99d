// Programs: what the handlers of a simulated world do, as data. The scripted executor and the SDK's handlers both
// interpret them.
//
// P1. A program calls, sends to and attaches to programs with larger numbers only, and a keyed run of program `n` has a
//     key of its own number: so neither calls nor keys can wait in a circle, and every program comes to an end.

import type { Random } from "./random.ts";

export type Kind = "service" | "object" | "shared" | "workflow" | "poke";

export type Node =
  | StepNode
  | { readonly op: "sleep"; readonly ms: number }
  | CallNode
  | SendNode
  | { readonly op: "get" | "set" | "clear"; readonly name: string }
  | { readonly op: "keys" | "clearAll" }
  | { readonly op: "signal"; readonly name: string }
  /** Makes an awakeable, gives it to a program that is sent off, and waits for it. */
  | { readonly op: "handshake"; readonly to: Callee }
  | { readonly op: "promise"; readonly verb: "get" | "peek" | "complete"; readonly name: string }
  | { readonly op: "attach" | "output"; readonly to: Callee }
  | { readonly op: "all" | "race" | "seq"; readonly nodes: readonly Node[] }
  | { readonly op: "try"; readonly node: Node; readonly rescue: Node }
  | StreamNode
  | { readonly op: "fail" };

export interface StreamNode {
  readonly op: "stream";
  readonly verb: "append" | "read" | "length" | "trim";
  /** Items to append, or the offset to read from. */
  readonly number: number;
}

/** The one stream of a key (or of a run without one): all meet in it. */
export const STREAM = "log";

export interface StepNode {
  readonly op: "step";
  readonly name: string;
  /** So many executions fail before one succeeds. */
  readonly transient: number;
  /** What happens at the end of its tries. */
  readonly exhausted: "never" | "pause" | "throw";
  readonly terminal: boolean;
  readonly atMostOnce: boolean;
  /** Its result goes into the stream. */
  readonly into: boolean;
  /** So often each try writes into the stream while it runs. */
  readonly writes: number;
}

export interface Callee {
  readonly program: number;
  readonly kind: Kind;
  readonly key: string | null;
  readonly idempotencyKey: string | null;
}

interface CallNode {
  readonly op: "call";
  readonly to: Callee;
}

export interface SendNode {
  readonly op: "send";
  readonly to: Callee;
  readonly delayMs: number;
  /** What is sent to the run afterwards: a signal, or a cancel. */
  readonly then: "nothing" | "signal" | "cancel";
}

/** Kinds of things that the programs of a world do; a seed switches some of them off. */
export const FEATURES = [
  "step",
  "sleep",
  "call",
  "send",
  "state",
  "signal",
  "handshake",
  "promise",
  "attach",
  "parallel",
  "try",
  "fail",
  "stream",
] as const;
export type Feature = (typeof FEATURES)[number];

export interface ProgramSettings {
  readonly count: number;
  readonly features: ReadonlySet<Feature>;
  readonly sleepMsMax: number;
  readonly atMostOnce: number;
  readonly stepFails: number;
  readonly keysPerProgram: number;
  readonly idempotent: number;
  /** Many calls in parallel branches, and code that takes its time after a cancel: trees that are long in ending (E7). */
  readonly families: boolean;
}

export interface Program {
  readonly number: number;
  /** How it is usually started. */
  readonly kind: Kind;
  readonly node: Node;
}

export function drawPrograms(random: Random, settings: ProgramSettings): readonly Program[] {
  const kinds = Array.from({ length: settings.count }, () =>
    random.weighted<Kind>({ service: 3, object: 4, shared: 1, workflow: 2, poke: 0 }),
  );
  return kinds.map((kind, number) => ({
    number,
    kind,
    node: new Author(random.split(`program ${number}`), settings, kinds, number).program(),
  }));
}

const FAMILY_WEIGHTS: Partial<Record<Feature, number>> = {
  call: 8,
  parallel: 6,
  try: 4,
  sleep: 3,
  send: 0.5,
  handshake: 0.3,
};

const WEIGHTS: Readonly<Record<Feature, number>> = {
  step: 6,
  sleep: 2,
  call: 3,
  send: 2,
  state: 4,
  signal: 1.5,
  handshake: 1,
  promise: 1.5,
  attach: 1,
  parallel: 2,
  try: 1.5,
  fail: 0.3,
  stream: 5,
};

class Author {
  readonly #random: Random;
  readonly #settings: ProgramSettings;
  readonly #kinds: readonly Kind[];
  readonly #number: number;
  /** Runs that it may still start. */
  #starts: number;

  constructor(random: Random, settings: ProgramSettings, kinds: readonly Kind[], number: number) {
    this.#random = random;
    this.#settings = settings;
    this.#kinds = kinds;
    this.#number = number;
    this.#starts = settings.families ? 5 - number : 3;
  }

  program(): Node {
    const node: Node = { op: "seq", nodes: Array.from({ length: this.#random.int(1, 5) }, () => this.#node(0)) };
    if (!this.#settings.families || !this.#random.chance(0.6)) return node;
    const rescue: Node = {
      op: "seq",
      nodes: [this.#step(), { op: "sleep", ms: this.#random.int(1, 300) }, this.#step()],
    };
    return { op: "seq", nodes: [{ op: "try", node, rescue }] };
  }

  #node(depth: number): Node {
    const random = this.#random;
    const weights = Object.fromEntries(
      FEATURES.map((feature) => [
        feature,
        this.#settings.features.has(feature) && this.#possible(feature, depth) ? this.#weight(feature) : 0,
      ]),
    ) as Record<Feature, number>;
    switch (random.weighted(weights)) {
      case "step":
        return this.#step();
      case "sleep":
        return { op: "sleep", ms: random.chance(0.2) ? random.int(0, 3) : random.int(1, this.#settings.sleepMsMax) };
      case "call":
        return { op: "call", to: this.#callee("sometimes") };
      case "send":
        return {
          op: "send",
          to: this.#callee("sometimes"),
          delayMs: random.chance(0.5) ? 0 : random.int(1, 1_000),
          then: random.weighted({ nothing: 4, signal: 1, cancel: 1 }),
        };
      case "state":
        return this.#state();
      case "signal":
        return { op: "signal", name: `s${random.int(0, 1)}` };
      case "handshake":
        return { op: "handshake", to: this.#callee("never") };
      case "promise":
        return { op: "promise", verb: random.weighted({ get: 2, peek: 1, complete: 2 }), name: `p${random.int(0, 1)}` };
      case "attach":
        return { op: random.chance(0.6) ? "attach" : "output", to: this.#callee("always") };
      case "parallel":
        return {
          op: random.chance(0.65) ? "all" : "race",
          nodes: Array.from({ length: random.int(2, 3) }, () => this.#branch(depth + 1)),
        };
      case "stream":
        return {
          op: "stream",
          verb: random.weighted({ append: 6, read: 3, length: 1, trim: 3 }),
          number: random.int(1, 3),
        };
      case "try":
        return { op: "try", node: this.#node(depth + 1), rescue: this.#node(depth + 1) };
      default:
        return { op: "fail" };
    }
  }

  #weight(feature: Feature): number {
    return (this.#settings.families ? FAMILY_WEIGHTS[feature] : undefined) ?? WEIGHTS[feature];
  }

  /** What one of several parallel branches does. */
  #branch(depth: number): Node {
    const length = this.#random.weighted({ 1: 3, 2: 2, 3: 1 });
    if (length === "1") return this.#node(depth);
    return { op: "seq", nodes: Array.from({ length: Number(length) }, () => this.#node(depth)) };
  }

  #possible(feature: Feature, depth: number): boolean {
    const starts = feature === "call" || feature === "send" || feature === "handshake";
    if (starts && this.#starts === 0) return false;
    if (starts || feature === "attach") return this.#number + 1 < this.#settings.count;
    return depth < 2 || (feature !== "parallel" && feature !== "try");
  }

  #step(): StepNode {
    const random = this.#random;
    const { stepFails, atMostOnce, features } = this.#settings;
    const streams = features.has("stream");
    const fails = random.chance(stepFails);
    return {
      op: "step",
      name: `step${random.int(0, 9)}`,
      transient: fails ? random.int(1, 3) : 0,
      exhausted: fails ? random.weighted({ never: 3, pause: 1, throw: 1 }) : "never",
      terminal: random.chance(stepFails * 0.3),
      atMostOnce: random.chance(atMostOnce),
      into: streams && random.chance(0.4),
      writes: streams && random.chance(0.3) ? random.int(1, 3) : 0,
    };
  }

  #state(): Node {
    const name = `v${this.#random.int(0, 2)}`;
    const op = this.#random.weighted({ get: 4, set: 5, clear: 1, keys: 1, clearAll: 0.5 });
    return op === "keys" || op === "clearAll" ? { op } : { op, name };
  }

  #callee(idempotency: "always" | "sometimes" | "never"): Callee {
    const random = this.#random;
    this.#starts -= 1;
    const program = random.int(this.#number + 1, this.#settings.count - 1);
    const kind = this.#kinds[program] ?? "service";
    const idempotent =
      idempotency === "always" || (idempotency === "sometimes" && random.chance(this.#settings.idempotent));
    return {
      program,
      kind,
      key: keyFor(kind, program, random.int(0, this.#settings.keysPerProgram - 1)),
      idempotencyKey: idempotent && kind !== "workflow" ? idempotencyKeyFor(program, random.int(0, 1)) : null,
    };
  }
}

/** P1: keys belong to one program, of both kinds. */
export function keyFor(kind: Kind, program: number, which: number): string | null {
  return kind === "service" ? null : `k${program}.${which}`;
}

export function idempotencyKeyFor(program: number, which: number): string {
  return `i${program}.${which}`;
}

/** What a run is submitted with: its program, and the awakeable that it answers when it is done. */
export interface ProgramInput {
  readonly program: number;
  readonly answer?: string;
  /** `poke`: the promise to complete. */
  readonly promise?: string;
}

export function encodeInput(input: ProgramInput): string {
  return JSON.stringify(input);
}
