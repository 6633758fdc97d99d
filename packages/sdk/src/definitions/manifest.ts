// A definition as data that can cross a wire.

import type { HandlerManifest, RetryPolicy, ServiceManifest } from "@perdure/protocol";
import { DEFAULT_RETRY, DefinitionError, isPerdureError, parseDuration } from "@perdure/protocol";
import type { RetryOptions } from "../context/options.ts";
import { jsonSchemaOf } from "../standard-schema.ts";
import type { AnyInput, HandlerOptions, HandlerSpec } from "./handler.ts";
import type { AnyDefinition } from "./service.ts";

type AnyHandlerOptions = HandlerOptions<AnyInput, AnyInput>;

export function manifestOf(definition: AnyDefinition): ServiceManifest {
  const handlers = [...definition.specs.values()].map(handlerManifest);
  const { description, agent, memory } = definition.options;
  return {
    name: definition.name,
    kind: definition.kind,
    handlers,
    ...(description === undefined ? {} : { description }),
    ...(agent === true ? { agent } : {}),
    ...(memory === "snapshot" ? { memory } : {}),
  };
}

function handlerManifest(spec: HandlerSpec): HandlerManifest {
  const { description, input, output, retention, retry, internal, listens } = spec.options;
  const inputSchema = input === undefined ? undefined : jsonSchemaOf(input, "input");
  const outputSchema = output === undefined ? undefined : jsonSchemaOf(output, "output");
  return {
    name: spec.name,
    mode: spec.mode,
    ...(description === undefined ? {} : { description }),
    ...(inputSchema === undefined ? {} : { inputSchema }),
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(retention === undefined ? {} : { retentionMs: parseDuration(retention) }),
    ...(retry === undefined ? {} : { retry: resolveRetry(retry) }),
    ...(listens === true ? { listens } : {}),
    ...(internal === true ? { internal } : {}),
  };
}

/** @throws DefinitionError or InvalidDurationError where an option is out of its range. */
export function resolveRetry(options: RetryOptions, defaults: RetryPolicy = DEFAULT_RETRY): RetryPolicy {
  const initialMs = options.initial === undefined ? defaults.initialMs : parseDuration(options.initial);
  const policy: RetryPolicy = {
    initialMs,
    factor: options.factor ?? defaults.factor,
    maxMs: options.max === undefined ? Math.max(defaults.maxMs, initialMs) : parseDuration(options.max),
    maxAttempts: options.maxAttempts ?? defaults.maxAttempts,
    onExhausted: options.onExhausted ?? defaults.onExhausted,
  };
  if (!(policy.factor >= 1 && Number.isFinite(policy.factor)))
    throw new DefinitionError(`retry.factor must be a number of at least 1, not ${policy.factor}`);
  if (!(policy.maxAttempts >= 1))
    throw new DefinitionError(`retry.maxAttempts must be at least 1, not ${policy.maxAttempts}`);
  return policy;
}

/** @throws DefinitionError where an option cannot be meant. */
export function checkHandlerOptions(name: string, options: AnyHandlerOptions): void {
  try {
    if (options.retry !== undefined) resolveRetry(options.retry);
    if (options.retention !== undefined) parseDuration(options.retention);
  } catch (error) {
    if (!isPerdureError(error)) throw error;
    throw new DefinitionError(`"${name}": ${error.message}`, { cause: error });
  }
  if (options.migrate !== undefined && typeof options.migrate !== "function")
    throw new DefinitionError(`"${name}": migrate is a function (state, { point, from }) => state`);
  for (const side of ["input", "output"] as const) {
    const schema = options[side];
    if (schema !== undefined && typeof schema["~standard"]?.validate !== "function") {
      throw new DefinitionError(`"${name}": ${side} is not a Standard Schema (zod, valibot, arktype and others are)`);
    }
  }
}
