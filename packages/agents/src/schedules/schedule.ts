// schedule(): a schedule as a value that a module exports. Where it is served, a runtime puts it each time it starts.

import { DefinitionError, type DurationLike } from "@perdure/protocol";
import {
  isDefinition,
  type AnyDefinition,
  type Bundle,
  type HandlerArguments,
  type KeyedDefinition,
  type ServiceDefinition,
  type WorkflowDefinition,
} from "@perdure/sdk";
import { schedules } from "./schedules.ts";
import { specProblem } from "./spec.ts";
import { SCHEDULES, type CatchUp, type Overlap, type ScheduleSpec, type ScheduleTarget } from "./types.ts";

export interface Schedule extends Bundle {
  readonly kind: "schedule";
  readonly spec: ScheduleSpec;
}

/** Either `cron` or `every`. */
type When =
  | { readonly cron: string; readonly timeZone?: string; readonly every?: never }
  | { readonly every: DurationLike; readonly cron?: never; readonly timeZone?: never };

interface Policies {
  /** Default: `skip`; with `catchUp: "all"`, `queue`. */
  readonly overlap?: Overlap;
  /** Default: `latest`. */
  readonly catchUp?: CatchUp;
  /** Start up to that much later. */
  readonly jitter?: DurationLike;
  /** Begin paused. */
  readonly paused?: boolean;
}

type InputOf<F> =
  HandlerArguments<F> extends readonly [infer I]
    ? { readonly input: I }
    : HandlerArguments<F> extends readonly []
      ? { readonly input?: undefined }
      : { readonly input?: HandlerArguments<F>[0] };

type Options<H, Name extends keyof H> = When & Policies & { readonly handler: Name } & InputOf<H[Name]>;

const NAME_LENGTH_MAX = 200;

/** A workflow's `run` takes no key: each start has its own. */
export function schedule<H extends { readonly run: unknown }>(
  name: string,
  options: { readonly target: WorkflowDefinition<H>; readonly key?: never } & Options<H, "run">,
): Schedule;
export function schedule<H, const Name extends keyof H & string>(
  name: string,
  options: { readonly target: KeyedDefinition<H>; readonly key: string } & Options<H, Name>,
): Schedule;
export function schedule<H, const Name extends keyof H & string>(
  name: string,
  options: { readonly target: ServiceDefinition<H>; readonly key?: never } & Options<H, Name>,
): Schedule;
/** @throws DefinitionError where it cannot be meant. */
export function schedule(name: string, options: AnyOptions): Schedule {
  const { target: definition, key, handler, ...rest } = options;
  const refuse = (problem: string): DefinitionError => new DefinitionError(`schedule "${name}": ${problem}`);
  if (typeof name !== "string" || name === "" || name.length > NAME_LENGTH_MAX)
    throw refuse(`its name has 1 to ${NAME_LENGTH_MAX} characters`);
  // A definition that is used before its module has run is undefined, whatever its type says.
  if (!isDefinition(definition)) throw refuse(`its target is not a definition but ${typeof definition}`);
  const mode = definition.specs.get(handler)?.mode;
  if (mode === undefined)
    throw refuse(`"${definition.name}" has no handler "${handler}"; it has ${[...definition.specs.keys()].join(", ")}`);
  const keyPerStart = mode === "workflow";
  if (keyPerStart && key !== undefined)
    throw refuse(`a workflow runs once per key, so each start has a key of its own: leave the key out`);
  if (definition.kind === "service" && key !== undefined)
    throw refuse(`"${definition.name}" is a service and has no keys`);
  if (definition.kind !== "service" && !keyPerStart && key === undefined)
    throw refuse(`"${definition.name}" needs a key: which one is ${handler} started on?`);
  const target: ScheduleTarget = {
    service: definition.name,
    handler,
    ...(key === undefined ? {} : { key }),
    ...(keyPerStart ? { keyPerStart } : {}),
  };
  const spec: ScheduleSpec = { ...rest, target, exported: true };
  const problem = specProblem(spec);
  if (problem !== undefined) throw refuse(problem);
  return Object.freeze({
    kind: "schedule",
    name,
    spec,
    definitions: [definition, schedules],
    onStart: [{ target: { service: SCHEDULES, key: name, handler: "put" }, input: spec }],
  });
}

type AnyOptions = Omit<ScheduleSpec, "target" | "exported"> & {
  readonly target: AnyDefinition;
  readonly key?: string;
  readonly handler: string;
};
