// A handler called by the server itself, on behalf of who asks: also one that is internal.

import { errorFromFailure, type Target } from "@perdure/protocol";
import type { ServedRuntime } from "./context.ts";

/** Its value, as other handlers would have it. @throws its failure. */
export async function callHandler<T>(
  runtime: Pick<ServedRuntime, "call">,
  target: Target,
  input?: unknown,
): Promise<T> {
  const { result } = await runtime.call({ target, input: input === undefined ? null : JSON.stringify(input) });
  if (result.kind === "failure") throw errorFromFailure(result.failure);
  return (result.kind === "value" ? JSON.parse(String(result.value)) : undefined) as T;
}
