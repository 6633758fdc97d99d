// The loaded code does not have the handler that a run began with. Nothing is lost: the run waits.

import { UnknownTargetError } from "@perdure/protocol";
import type { Registry } from "../definitions/registry.ts";

export function unknownTarget(registry: Registry, service: string, handler: string): UnknownTargetError {
  const near = registry.near(service, handler);
  const hint = near.length === 0 ? "" : ` Did you mean ${near.join(", ")}?`;
  return new UnknownTargetError(`the loaded code has no handler ${service}/${handler}.${hint}`);
}
