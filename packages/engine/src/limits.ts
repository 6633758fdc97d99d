// Everything that can grow has a maximum here, with its unit in its name. Hosts may lower or raise the ones in `Limits`.

import { assert } from "@perdure/protocol";

export interface Limits {
  /** Attempts that are live at once, blocked ones included. Above it the longest blocked are asked to suspend. */
  readonly attemptsLiveMax: number;
  /** Runs that wait for a free attempt before submissions from outside are refused (P0032). */
  readonly readyRunsMax: number;
  /** Events that one batch takes. */
  readonly batchEventsMax: number;
  /** Timers that one batch fires. */
  readonly timersPerBatchMax: number;
  /** Finished runs that one sweep of the retention looks at. */
  readonly retentionPageMax: number;
}

export const DEFAULT_LIMITS: Limits = {
  attemptsLiveMax: 10_000,
  readyRunsMax: 50_000,
  batchEventsMax: 10_000,
  timersPerBatchMax: 1_000,
  retentionPageMax: 500,
};

export function checkLimits(limits: Limits): Limits {
  for (const [name, value] of Object.entries(limits))
    assert(Number.isInteger(value) && value > 0, `limit ${name} must be a positive whole number`);
  assert(limits.timersPerBatchMax <= limits.batchEventsMax, "a batch must be able to hold the timers it fires");
  return limits;
}
