// Where a bundle begins its life inside an isolate: what its module exports is registered, and the host finds its entry
// points. After this the base image is taken, and every run of the bundle starts as a copy of it.

import { createRegistry } from "../definitions/registry.ts";
import { isServable } from "../definitions/bundle.ts";
import { Guest } from "./guest.ts";
import type { HostFunctions } from "./guest-ports.ts";
import { guestHostOf } from "./guest-host.ts";
import { provideGuestHost } from "./host-port.ts";
import { GUEST, RANDOM_BYTES, SET_CLOCK } from "./wire.ts";
import type { GuestEntryPoints } from "./wire.ts";

let guest: Guest | undefined;

/** @param modules the namespaces of the user's modules. */
export function install(modules: readonly Readonly<Record<string, unknown>>[]): void {
  const globals = globalThis as unknown as Record<string, unknown>;
  const registry = createRegistry(modules.flatMap((module) => Object.values(module).filter(isServable)));
  const created = new Guest(registry, {
    setClock: globals[SET_CLOCK] as HostFunctions["setClock"],
    randomHex: globals[RANDOM_BYTES] as HostFunctions["randomHex"],
  });
  guest = created;
  provideGuestHost(guestHostOf(created));
  Math.random = () => (created.ports.insideStep() ? created.ports.random() : created.random());
  const entryPoints: GuestEntryPoints = {
    handlers: () => created.handlers(),
    turn: (event) => created.turn(event),
    settle: () => created.settle(),
  };
  Object.defineProperty(globals, GUEST, { value: entryPoints });
}

/** What stands for a function of a host module. @param module its path in the package, with forward slashes. */
export function hostFunction(module: string, name: string): (...args: unknown[]) => Promise<unknown> {
  const target = `${module}#${name}`;
  const stand = (...args: unknown[]): Promise<unknown> => {
    if (guest === undefined)
      return Promise.reject(
        new Error(`${name} of ${module} was called while the bundle was loaded: it runs on the host`),
      );
    return guest.calls.call(target, args);
  };
  return Object.defineProperty(stand, "name", { value: name });
}
