// Where `ctx` must not be used, in words.

import { ContextMisuseError } from "@perdure/protocol";
import type { HandlerScope } from "../ports.ts";

export function afterTheEnd({ service, handler }: HandlerScope): ContextMisuseError {
  return new ContextMisuseError(
    `ctx of ${service}/${handler} was used after its handler had ended: await everything before you return`,
  );
}

export function insideStep({ service, handler }: HandlerScope): ContextMisuseError {
  return new ContextMisuseError(
    `ctx was used inside a step of ${service}/${handler}: a step is one effect and is not replayed; call ctx before or after it`,
  );
}
