// `ctx.call(inbox, key).add(note)`: the object between the two dots
// ==================================================================
// Each definition has one class for it, with a method per handler, made the first time it is called. Only targets that
// are known by name alone need a Proxy.

import type { Target } from "@perdure/protocol";
import { DefinitionError } from "@perdure/protocol";
import type { AnyDefinition } from "./service.ts";
import { isDefinition } from "./service.ts";

/** Who carries a call out: a handler's context, or a client. */
export interface TargetSink<Options extends object> {
  invoke(kind: "call" | "send", target: Target, input: unknown, options: Options | undefined): Promise<unknown>;
}

// The classes are shared by sinks of all kinds; `targetCalls` alone makes them, with options that its sink knows.
type AnySink = TargetSink<never>;

class TargetCalls {
  readonly #sink: AnySink;
  readonly #kind: "call" | "send";
  readonly #service: string;
  readonly #key: string | undefined;
  readonly #options: object | undefined;

  constructor(
    sink: AnySink,
    kind: "call" | "send",
    service: string,
    key: string | undefined,
    options: object | undefined,
  ) {
    this.#sink = sink;
    this.#kind = kind;
    this.#service = service;
    this.#key = key;
    this.#options = options;
  }

  static invoke(calls: TargetCalls, handler: string, input: unknown): Promise<unknown> {
    const service = calls.#service;
    const target = calls.#key === undefined ? { service, handler } : { service, handler, key: calls.#key };
    return calls.#sink.invoke(calls.#kind, target, input, calls.#options as never);
  }
}

type TargetClass = typeof TargetCalls;
const classes = new WeakMap<AnyDefinition, TargetClass>();

function classOf(definition: AnyDefinition): TargetClass {
  let made = classes.get(definition);
  if (made === undefined) {
    // Named, so that stacks show it as ours (see callerPosition).
    made = class TargetCallsOfDefinition extends TargetCalls {};
    for (const handler of definition.specs.keys()) {
      Object.defineProperty(made.prototype, handler, {
        value(this: TargetCalls, input: unknown): Promise<unknown> {
          return TargetCalls.invoke(this, handler, input);
        },
      });
    }
    classes.set(definition, made);
  }
  return made;
}

/** @throws DefinitionError where the target or its key cannot be meant. */
export function targetCalls<Options extends object>(
  sink: TargetSink<Options>,
  kind: "call" | "send",
  target: AnyDefinition | string,
  keyOrOptions: string | Options | undefined,
  lastOptions: Options | undefined,
): object {
  const key = typeof keyOrOptions === "string" ? keyOrOptions : undefined;
  const options = typeof keyOrOptions === "object" ? keyOrOptions : lastOptions;
  if (typeof target === "string") return untypedCalls(new TargetCalls(sink, kind, target, key, options));
  // A definition that is used before its module has run is undefined, whatever its type says.
  if (!isDefinition(target))
    throw new DefinitionError(`${kind} needs a definition or the name of a service, not ${String(target)}`);
  if (target.kind === "service" && key !== undefined)
    throw new DefinitionError(`"${target.name}" is a service and has no keys`);
  if (target.kind !== "service" && key === undefined)
    throw new DefinitionError(`"${target.name}" needs a key: ${kind}(${target.name}, key)`);
  return new (classOf(target))(sink, kind, target.name, key, options);
}

function untypedCalls(calls: TargetCalls): object {
  return new Proxy(calls, {
    get: (_, handler): unknown => {
      if (typeof handler !== "string" || handler === "then") return undefined; // Else `await` would take it for a promise.
      return (input: unknown): Promise<unknown> => TargetCalls.invoke(calls, handler, input);
    },
  });
}
