// What a module may export to be served: definitions, and things that are made of them.
//
// A bundle (a schedule, say) is served by definitions of ours and of the user, and has something to say to them each
// time a runtime starts. It is data, as a definition is: nothing happens when its module is loaded.

import type { Target } from "@perdure/protocol";
import type { SdkPorts } from "../ports.ts";
import type { AnyDefinition } from "./service.ts";
import { isDefinition } from "./service.ts";

/** A handler that is called each time a runtime starts. It has to bear that: most often nothing is new. */
export interface StartCall {
  readonly target: Target;
  readonly input: unknown;
}

export interface Bundle {
  /** What it is, for messages: `schedule`. */
  readonly kind: string;
  /** Unique among those of its kind. */
  readonly name: string;
  /** What has to be served for it. */
  readonly definitions: readonly AnyDefinition[];
  readonly onStart: readonly StartCall[];
  /** Called once for each executor that is made of it, before anything runs: what its code shares in that process. */
  readonly prepare?: (ports: SdkPorts) => void;
}

/** What `serve` takes and what files export. */
export type Servable = AnyDefinition | Bundle;

/** Anything that a module may export to be served. */
export function isServable(value: unknown): value is Servable {
  return isDefinition(value) || isBundle(value);
}

function isBundle(value: unknown): value is Bundle {
  if (typeof value !== "object" || value === null) return false;
  const { kind, name, definitions, onStart } = value as Partial<Bundle>;
  return (
    typeof kind === "string" &&
    typeof name === "string" &&
    Array.isArray(definitions) &&
    definitions.every(isDefinition) &&
    Array.isArray(onStart)
  );
}
