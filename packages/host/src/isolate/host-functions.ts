// What a guest gets from the host at once, without a message.

import { randomBytes } from "node:crypto";
import { RANDOM_BYTES, SET_CLOCK } from "@perdure/sdk/wire";
import type { HostFunctions } from "./machine.ts";

const RANDOM_BYTES_MAX = 65_536;

/** @param random where the chance of steps comes from. */
export function hostFunctions(random: (count: number) => Buffer): HostFunctions {
  return {
    [SET_CLOCK]: (ms, clock) => {
      clock.set(Number.isFinite(ms) ? ms : 0);
      return undefined;
    },
    [RANDOM_BYTES]: (count) => random(count > 0 ? Math.min(RANDOM_BYTES_MAX, Math.trunc(count)) : 0).toString("hex"),
  };
}

export const HOST_FUNCTIONS: HostFunctions = hostFunctions(randomBytes);
