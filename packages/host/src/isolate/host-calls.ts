// The hands: functions of host modules, called for guests in this process.

import { type AttemptReplies, failureFrom, HostFunctionMissingError, type Payload } from "@perdure/protocol";
import { encode, INFO, retryAfterMs, type StepInfo } from "@perdure/sdk/host-side";
import type { CallOutcome, WireInfo } from "@perdure/sdk/wire";

export type HostFunction = (...args: readonly unknown[]) => unknown;

/** By `module#export`. */
export type HostFunctions = ReadonlyMap<string, HostFunction>;

export interface CallScope {
  readonly replies: Pick<AttemptReplies, "append">;
  readonly signal: AbortSignal;
}

/** Never rejects: how it ended is what the guest is told. */
export async function callHost(
  functions: HostFunctions,
  target: string,
  args: readonly unknown[],
  scope: CallScope,
): Promise<CallOutcome> {
  try {
    const fn = functions.get(target);
    if (fn === undefined) throw missing(functions, target);
    const value = await fn(...args.map((arg) => withInfo(arg, scope)));
    return { kind: "value", value: plain(value, target) };
  } catch (error) {
    const delayMs = retryAfterMs(error, Date.now());
    const name = error instanceof Error ? error.name : "Error";
    const failure = failureFrom(error);
    return delayMs === undefined
      ? { kind: "failure", failure, name }
      : { kind: "failure", failure, name, retryAfterMs: delayMs };
  }
}

function missing(functions: HostFunctions, target: string): HostFunctionMissingError {
  const [module, name] = target.split("#");
  const others = [...functions.keys()].filter((key) => key.startsWith(`${module}#`)).map((key) => key.split("#")[1]);
  const has = others.length === 0 ? "no such module is loaded here" : `it exports ${others.join(", ")}`;
  return new HostFunctionMissingError(
    `a run calls ${name} of ${module}, which this deployment does not have: ${has}. Deploy a module that has it and resume the run.`,
  );
}

/** As the guest gets it: what JSON makes of it, bytes as they are. @throws SerializationError */
function plain(value: unknown, target: string): unknown {
  const payload = encode(value, `what ${target} gave`);
  return typeof payload === "string" ? JSON.parse(payload) : payload;
}

function withInfo(arg: unknown, { replies, signal }: CallScope): unknown {
  if (typeof arg !== "object" || arg === null) return arg;
  const wire = (arg as { readonly [INFO]?: WireInfo })[INFO];
  if (wire === undefined) return arg;
  const { command, attempt, idempotencyKey } = wire;
  const info: StepInfo = {
    idempotencyKey,
    attempt,
    signal,
    stream: (name) => ({
      write: (...items: readonly unknown[]) => {
        if (signal.aborted) return;
        const payloads = items.map((item): Payload => encode(item, `an item of "${name}"`) ?? "null");
        replies.append(name, payloads, `${command}.${attempt}`);
      },
    }),
  };
  return info;
}
