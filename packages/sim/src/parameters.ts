// The parameters of a world, drawn from its seed. Each seed also switches whole classes of faults and features off
// (swarm), so that rare combinations are not drowned by common ones.

import { type AgentParameters, drawAgents } from "./agents/cast.ts";
import { FEATURES, type Feature, type ProgramSettings } from "./program.ts";
import type { Random } from "./random.ts";

type Suspending = "eager" | "never" | "delayed" | "mixed";

interface FaultParameters {
  /** Mean milliseconds between two of them; 0: none. */
  readonly crashEveryMs: number;
  readonly takeoverEveryMs: number;
  readonly jumpEveryMs: number;
  readonly drainEveryMs: number;
  /** The loop is stopped at once, in a process that lives on. */
  readonly stopEveryMs: number;
  readonly jumpMsMax: number;
  /** Probabilities. */
  readonly commitRefused: number;
  readonly commitUncertain: number;
  readonly loadFails: number;
  readonly attemptFails: number;
}

export interface ExecutorParameters {
  readonly kind: "script" | "sdk";
  readonly suspending: Suspending;
  readonly lateStartMsMax: number;
  readonly stepMsMax: number;
  readonly reactMsMax: number;
  /** How often a step's result is proposed a second time, and another one. */
  readonly stutters: number;
}

export interface ImageParameters {
  /** How often code that waits is captured. */
  readonly capture: number;
  /** Captured images are said so much later at most. */
  readonly lateMsMax: number;
  readonly unusable: number;
  /** Mean milliseconds between two stored images that are damaged; 0: none. */
  readonly rotEveryMs: number;
}

export type OperatorAction =
  | "signal"
  | "cancel"
  | "kill"
  | "pause"
  | "resume"
  | "restart"
  | "purge"
  | "settle"
  | "edit"
  | "attach"
  | "fork"
  | "rewind"
  | "name";

export interface Parameters {
  readonly seed: number;
  readonly hosts: number;
  readonly faultMs: number;
  readonly submissions: number;
  readonly storeMsMax: number;
  /** Queued runs of a key that a load shows at most. */
  readonly keyQueuePage: number;
  readonly faults: FaultParameters;
  readonly executor: ExecutorParameters;
  readonly images: ImageParameters;
  readonly programs: ProgramSettings;
  readonly limits: {
    readonly attemptsLiveMax: number;
    readonly readyRunsMax: number;
    readonly batchEventsMax: number;
    readonly timersPerBatchMax: number;
    readonly retentionPageMax: number;
  };
  /** Weights of what people do from outside, and how often they do something; 0: never. */
  readonly operator: Readonly<Record<OperatorAction, number>>;
  readonly operatorEveryMs: number;
  /** Further things that are asked at the same moment, about the same run or its family. */
  readonly operatorBurstMax: number;
  readonly retention: { readonly everyMs: number; readonly keepMs: number };
  readonly handlerTriesMax: number;
  readonly onExhausted: "pause" | "throw";
  /** Null: a world without agents. */
  readonly agents: AgentParameters | null;
  /** Services whose handlers live in isolates. */
  readonly isolated: readonly string[];
}

/** Who executes code: an interpreter of programs, the SDK, the SDK in isolates, or the SDK with agents beside the programs. */
export const WORLD_KINDS = ["script", "sdk", "snapshot", "agents"] as const;
export type WorldKind = (typeof WORLD_KINDS)[number];

const ACTIONS = [
  "signal",
  "cancel",
  "kill",
  "pause",
  "resume",
  "restart",
  "purge",
  "settle",
  "edit",
  "attach",
] as const satisfies readonly OperatorAction[];

const OLD_FEATURES = FEATURES.filter((feature) => feature !== "stream");

export function drawParameters(seed: number, random: Random, kind: WorldKind): Parameters {
  const some = (probability: number, value: () => number) => (random.chance(probability) ? value() : 0);
  const features = new Set<Feature>(OLD_FEATURES.filter((feature) => feature === "step" || random.chance(0.7)));
  if (random.split("streams").chance(0.6)) features.add("stream"); // Seeds without them are the worlds that they were.
  const families = random.chance(0.25) && kind !== "agents";
  const calm = random.chance(0.1); // A world without faults finds what needs none.
  const fault = (probability: number, value: () => number) => (calm ? 0 : some(probability, value));
  return {
    seed,
    hosts: random.chance(0.5) ? 2 : 1,
    faultMs: random.int(500, 4_000),
    submissions: families ? random.int(2, 6) : random.pick(kind === "agents" ? [0, 1, 3] : [3, 8, 16, 24]),
    storeMsMax: random.pick([0, 2, 10, 40]),
    // An agent's turn takes messages in their order as far as it is told of the queue: stores show it that far.
    keyQueuePage: random.chance(0.3) && kind !== "agents" ? random.int(1, 3) : 256,
    faults: {
      crashEveryMs: fault(0.5, () => random.int(150, 1_500)),
      takeoverEveryMs: fault(0.5, () => random.int(200, 2_000)),
      jumpEveryMs: fault(0.3, () => random.int(200, 2_000)),
      drainEveryMs: fault(0.2, () => random.int(400, 2_000)),
      stopEveryMs: fault(0.2, () => random.int(200, 2_000)),
      jumpMsMax: random.pick([20, 1_000, 10_000]),
      commitRefused: fault(0.3, () => 0.03),
      commitUncertain: fault(0.2, () => 0.02),
      loadFails: fault(0.2, () => 0.01),
      attemptFails: fault(0.3, () => random.pick([0.02, 0.1])),
    },
    executor: {
      kind: kind === "script" ? "script" : "sdk",
      suspending: random.pick(["eager", "never", "delayed", "mixed", "mixed"]),
      lateStartMsMax: some(0.3, () => 30),
      stepMsMax: random.pick([1, 20, 200]),
      reactMsMax: some(0.4, () => random.pick([3, 30])),
      stutters: some(0.3, () => 0.2),
    },
    images: drawImages(random.split("images"), kind, calm),
    programs: {
      families,
      count: families ? random.int(3, 4) : random.int(2, 7),
      features: families ? new Set([...features, "call", "parallel", "try", "sleep"]) : features,
      sleepMsMax: random.pick([50, 500, 3_000]),
      atMostOnce: some(0.4, () => 0.3),
      stepFails: some(0.6, () => 0.3),
      keysPerProgram: random.int(1, 2),
      idempotent: some(0.5, () => 0.4),
    },
    limits: drawLimits(random),
    operator: {
      ...(Object.fromEntries(
        ACTIONS.map((action) => [action, families && action === "cancel" ? 3 : some(0.5, () => 1)]),
      ) as Record<(typeof ACTIONS)[number], number>),
      ...drawForks(random.split("forks")),
    },
    operatorEveryMs: some(0.75, () => random.pick([15, 60, 250])),
    operatorBurstMax: random.pick([0, 0, 1, 4]),
    retention: random.chance(0.3)
      ? { everyMs: random.int(50, 400), keepMs: random.int(0, 600) }
      : { everyMs: 86_400_000, keepMs: 86_400_000 },
    handlerTriesMax: random.pick([2, 5, 1_000]),
    onExhausted: random.pick(["pause", "throw"]),
    agents: kind === "agents" ? drawAgents(random.split("agents")) : null,
    isolated: kind === "snapshot" ? drawIsolated(random.split("isolated")) : [],
  };
}

/** Apart, so that worlds without them are the ones that they were. */
function drawForks(random: Random): Record<"fork" | "rewind" | "name", number> {
  const some = (): number => (random.chance(0.35) ? 1 : 0);
  return { fork: some(), rewind: some(), name: some() };
}

/** At least one. */
function drawIsolated(random: Random): readonly string[] {
  const drawn = ["svc", "obj", "wf"].filter(() => random.chance(0.6));
  return drawn.length === 0 ? ["svc"] : drawn;
}

/** Code under the SDK is captured as the policy of its isolates says. */
function drawImages(random: Random, kind: WorldKind, calm: boolean): ImageParameters {
  const some = (probability: number, value: number) => (random.chance(probability) ? value : 0);
  return {
    capture: kind === "script" ? random.pick([0, 0.2, 1]) : 0,
    lateMsMax: some(0.4, random.pick([3, 40])),
    unusable: calm ? 0 : some(0.4, 0.2),
    rotEveryMs: calm ? 0 : some(0.4, 200),
  };
}

function drawLimits(random: Random): Parameters["limits"] {
  const small = random.chance(0.5);
  const batchEventsMax = small && random.chance(0.6) ? random.int(1, 6) : 10_000;
  return {
    attemptsLiveMax: small ? random.int(1, 8) : 10_000,
    readyRunsMax: small && random.chance(0.5) ? random.int(1, 6) : 50_000,
    batchEventsMax,
    timersPerBatchMax: Math.min(batchEventsMax, small && random.chance(0.5) ? random.int(1, 3) : 1_000),
    retentionPageMax: random.chance(0.5) ? random.int(1, 3) : 500,
  };
}

const kindOf = ({ agents, isolated, executor }: Parameters): WorldKind =>
  agents !== null ? "agents" : isolated.length > 0 ? "snapshot" : executor.kind;

/** One line that says what kind of world a seed is. */
export function describeParameters(p: Parameters): string {
  const { faults, executor, limits } = p;
  const every = (name: string, ms: number) => (ms === 0 ? [] : [`${name}=1/${ms}ms`]);
  const share = (name: string, probability: number) =>
    probability === 0 ? [] : [`${name}=1/${Math.round(1 / probability)}`];
  return [
    `SEED=${p.seed} executor=${kindOf(p)}${p.isolated.length === 0 ? "" : `(${p.isolated.join()})`} store=memory hosts=${p.hosts} submissions=${p.submissions} programs=${p.programs.count}`,
    `fault_ms=${p.faultMs} key_page=${p.keyQueuePage} store_ms=0..${p.storeMsMax} suspend=${executor.suspending} step_ms=0..${executor.stepMsMax}`,
    ...every("crash", faults.crashEveryMs),
    ...every("takeover", faults.takeoverEveryMs),
    ...every("drain", faults.drainEveryMs),
    ...every("stop", faults.stopEveryMs),
    ...(faults.jumpEveryMs === 0 ? [] : [`clock=jumps(1/${faults.jumpEveryMs}ms,${faults.jumpMsMax}ms)`]),
    ...share("commit_refused", faults.commitRefused),
    ...share("commit_uncertain", faults.commitUncertain),
    ...share("load_fail", faults.loadFails),
    ...share("attempt_fail", faults.attemptFails),
    ...share("image", p.images.capture),
    ...(p.images.capture === 0
      ? []
      : [...share("image_unusable", p.images.unusable), ...every("image_rot", p.images.rotEveryMs)]),
    ...every("operator", p.operatorEveryMs),
    ...(p.operatorEveryMs === 0 ? [] : [`burst=${p.operatorBurstMax}`]),
    `live_max=${limits.attemptsLiveMax} ready_max=${limits.readyRunsMax} batch_max=${limits.batchEventsMax}`,
    ...(p.agents === null ? [] : [`agents=${p.agents.plans.length} messages=${p.agents.messages}`]),
    ...(p.retention.everyMs < 86_400_000 ? [`retention=${p.retention.keepMs}ms/${p.retention.everyMs}ms`] : []),
  ].join(" ");
}
