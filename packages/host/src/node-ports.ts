// Node's clock and turn of the event loop, as the engine's ports.

import type { Clock, Scheduler } from "@perdure/engine";

/** `setTimeout` overflows above this: longer waits are cut into pieces. */
const TIMEOUT_MS_MAX = 2_147_483_647;

export const nodeClock: Clock = {
  now: () => Date.now(),
  wakeAt(at, callback) {
    let timer: NodeJS.Timeout;
    const arm = (): void => {
      timer = setTimeout(
        () => (Date.now() >= at ? callback() : arm()),
        Math.min(Math.max(0, at - Date.now()), TIMEOUT_MS_MAX),
      );
    };
    arm();
    return () => clearTimeout(timer);
  },
};

/** `setImmediate`: after the I/O that is ready, so that all requests of one turn share a commit. */
export const nodeScheduler: Scheduler = { soon: (callback) => void setImmediate(callback) };
