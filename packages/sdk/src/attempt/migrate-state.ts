// The state of a run, turned into what other code takes at the same safe point. It is done before anything of the run is
// changed, once, by the code that the run goes over to: a hook that throws changes nothing.

import {
  failureFrom,
  MigrationRefusedError,
  type MigrationAbout,
  type Result,
  UnknownTargetError,
} from "@perdure/protocol";
import type { HandlerSpec } from "../definitions/handler.ts";
import type { Registry } from "../definitions/registry.ts";
import { decodeResult, encodeResult } from "../json.ts";

/** What is asked of the code that a run goes over to. */
export interface StateMigration extends MigrationAbout {
  readonly service: string;
  readonly handler: string;
  /** As the old code gave it to its safe point. */
  readonly state: Result;
}

/** @throws MigrationRefusedError, UnknownTargetError */
export async function migrateState(registry: Registry, migration: StateMigration): Promise<Result> {
  const { service, handler, state, point, from } = migration;
  const spec = registry.find(service, handler);
  if (spec === undefined) throw new UnknownTargetError(`the other code has no handler ${service}/${handler}`);
  if (spec.options.migrate === undefined) return state;
  const result = encodeResult(await turned(spec, decodeResult(state), { point, from }), "the state that migrate gave");
  if (result.kind === "void" && state.kind === "value")
    throw new MigrationRefusedError(`migrate of ${service}/${handler} gave nothing back: it returns the new state`);
  return result;
}

async function turned(
  { service, name, options }: HandlerSpec,
  state: unknown,
  about: MigrationAbout,
): Promise<unknown> {
  try {
    return await options.migrate?.(state, about);
  } catch (cause) {
    const { message } = failureFrom(cause);
    throw new MigrationRefusedError(
      `migrate of ${service}/${name} failed at the safe point "${about.point}": ${message}`,
      { cause },
    );
  }
}
