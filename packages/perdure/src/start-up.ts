// What a runtime does once it has started: it tells exported schedules to the object that keeps them.
//
// A schedule that no module exports any more is neither paused nor removed: a deploy that forgot a file must not lose it.
// It goes on, and each start says so until a person removes it, or a module exports it again.

import { SCHEDULES, schedules, type ScheduleRecord } from "@perdure/agents";
import type { StoreReader } from "@perdure/engine";
import type { Runtime } from "@perdure/host";
import type { AnyDefinition, Registry, StartCall } from "@perdure/sdk";

type StateReader = Pick<StoreReader, "stateKeys" | "state">;

const KEYS_PER_PAGE = 500;

/** Definitions that the stored state needs, whoever exports them: the ticks of kept schedules are on their way. */
export async function needsForStored(exported: Registry, reader: StateReader): Promise<readonly AnyDefinition[]> {
  if (exported.find(SCHEDULES, "tick") !== undefined) return []; // By their own copy of the package, perhaps.
  const keys = await reader.stateKeys(SCHEDULES, null, 1);
  return keys.length === 0 ? [] : [schedules];
}

/**
 * Submitted anew at each start, since a spec that was changed and changed back is a change too. The handlers do nothing
 * where there is nothing new. One that is refused does not keep the rest from being served: it is reported.
 */
export async function callOnStart(
  runtime: Pick<Runtime, "submit"> & { readonly reader: StateReader },
  calls: readonly StartCall[],
  log: (line: string) => void,
  describe: (error: unknown) => string,
): Promise<void> {
  const tell = async ({ target, input }: StartCall): Promise<void> => {
    try {
      await runtime.submit({ target, input: input === undefined ? null : JSON.stringify(input) });
    } catch (error) {
      const name = [target.service, target.key, target.handler].filter((part) => part !== undefined).join("/");
      log(
        `perdure: ${name} could not be told at the start, what was kept holds until the next one: ${describe(error)}`,
      );
    }
  };
  await Promise.all(calls.map(tell));
  for (const name of await forgotten(runtime.reader, calls))
    log(
      `perdure: no module exports the schedule "${name}" any more. It goes on; end it with: perdure schedules remove ${JSON.stringify(name)}`,
    );
}

/** Exported once, and not now. */
async function forgotten(reader: StateReader, calls: readonly StartCall[]): Promise<readonly string[]> {
  const exported = new Set(calls.filter(({ target }) => target.service === SCHEDULES).map(({ target }) => target.key));
  const names: string[] = [];
  for (let after: string | null = null; ; ) {
    const keys: readonly string[] = await reader.stateKeys(SCHEDULES, after, KEYS_PER_PAGE);
    for (const key of keys) if (!exported.has(key) && (await wasExported(reader, key))) names.push(key);
    after = keys.at(-1) ?? null;
    if (keys.length < KEYS_PER_PAGE) return names;
  }
}

async function wasExported(reader: StateReader, key: string): Promise<boolean> {
  const record = (await reader.state({ service: SCHEDULES, key })).get("schedule");
  return typeof record === "string" && (JSON.parse(record) as ScheduleRecord).spec.exported;
}
