// Numbers that would make the gateway wait for ever, or never: said when it is made, not when it hangs.

import { DefinitionError } from "@perdure/protocol";
import type { GatewayOptions } from "./gateway.ts";

export function checkOptions({ limits = {}, breaker = {}, retry = {}, timeouts = {} }: GatewayOptions): void {
  for (const [name, limit] of Object.entries(limits)) check(`limits["${name}"]`, limit, 1);
  check("breaker", breaker, Number.MIN_VALUE);
  check("breaker", { failureRate: breaker.failureRate }, Number.MIN_VALUE, 1);
  check("retry", retry, 0);
  check("timeouts", timeouts, 1);
}

function check(where: string, options: object, min: number, max: number = Number.MAX_VALUE): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || (typeof value === "number" && value >= min && value <= max)) continue;
    const least = min === Number.MIN_VALUE ? "more than 0" : `at least ${min}`;
    const most = max === Number.MAX_VALUE ? "" : ` and at most ${max}`;
    throw new DefinitionError(`${where}.${name} is ${String(value)}: it has to be ${least}${most}, or left out`);
  }
}
