// Handlers: plain functions, or functions with options
// ====================================================
// `async add(ctx, note: string) { … }` is a handler. `shared(fn)` lets it run beside the key's exclusive one;
// `handler({ input, output, … }, fn)` gives it schemas and policies. What the wrappers return is opaque: it carries the
// types in phantom properties that never exist at run time.

import type { DurationLike, HandlerMode, MigrationAbout } from "@perdure/protocol";
import { DefinitionError } from "@perdure/protocol";
import type { RetryOptions } from "../context/options.ts";
import type { SchemaInput, SchemaOutput, StandardSchema } from "../standard-schema.ts";

/** A parameter type that accepts every handler, whatever its input is. */
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyInput = any;

/** Written as a method, so that a handler for a richer context fits where a poorer one is named. */
export type HandlerFunction<Context> = { handle(ctx: Context, input: AnyInput): unknown }["handle"];

export type MigrateHook = (state: AnyInput, about: MigrationAbout) => unknown;

export interface HandlerOptions<Input = unknown, Output = unknown> {
  /** Checked before the handler starts; types its input. */
  readonly input?: StandardSchema<AnyInput, Input>;
  /** Checked when it returns. */
  readonly output?: StandardSchema<Output, AnyInput>;
  readonly description?: string;
  /** How the handler as a whole is tried again after an error. */
  readonly retry?: RetryOptions;
  /** How long a finished run is kept. */
  readonly retention?: DurationLike;
  /**
   * A run of older code goes over to this one (`perdure migrate`), from the safe point `point`: the state that it gave there,
   * as this code takes it. It computes, and has no effects. Default: the state as it is.
   */
  readonly migrate?: MigrateHook;
  /** The run that has the key's turn is told what queues behind it. */
  readonly listens?: boolean;
  /** Not reachable from outside, only from other handlers. */
  readonly internal?: boolean;
}

declare const contextType: unique symbol;
declare const sharedContextType: unique symbol;
declare const signature: unique symbol;

/** A handler with options, in its kind's default mode. */
export interface DefinedHandler<Context, Arguments extends readonly unknown[], Output> {
  readonly [contextType]?: (ctx: Context) => void;
  readonly [signature]?: (...input: Arguments) => Output;
  readonly [WRAPPED]: WrappedHandler;
}

/** A handler that runs beside others of its key, and may only read. */
export interface SharedHandler<Context, Arguments extends readonly unknown[], Output> {
  readonly [sharedContextType]?: (ctx: Context) => void;
  readonly [signature]?: (...input: Arguments) => Output;
  readonly [WRAPPED]: WrappedHandler;
}

export const WRAPPED: unique symbol = Symbol("perdure.handler");

export interface WrappedHandler {
  readonly fn: HandlerFunction<AnyInput>;
  readonly options: HandlerOptions<AnyInput, AnyInput>;
  readonly shared: boolean;
}

/** What a caller passes. */
export type HandlerArguments<F> = F extends { readonly [signature]?: infer S }
  ? S extends (...input: infer A) => unknown
    ? A
    : []
  : F extends (ctx: AnyInput, ...input: infer A) => unknown
    ? A
    : never;

/** What a caller gets. */
export type HandlerOutput<F> = F extends { readonly [signature]?: infer S }
  ? S extends (...input: AnyInput) => infer O
    ? O
    : unknown
  : F extends (...input: AnyInput) => infer O
    ? Awaited<O>
    : never;

/** The arguments behind the context, of a function with an optional or without an input. */
type InputArguments<S> =
  S extends StandardSchema<AnyInput, AnyInput>
    ? undefined extends SchemaInput<S>
      ? [input?: SchemaInput<S>]
      : [input: SchemaInput<S>]
    : [];
type InputParameters<S> = S extends StandardSchema<AnyInput, AnyInput> ? [input: SchemaOutput<S>] : [];
type Returned<S> = S extends StandardSchema<AnyInput, AnyInput> ? SchemaInput<S> | Promise<SchemaInput<S>> : unknown;
type Answer<S, R> = S extends StandardSchema<AnyInput, AnyInput> ? SchemaOutput<S> : Awaited<R>;

type CommonOptions = Omit<HandlerOptions, "input" | "output">;
type SchemaOf<I, O> = { readonly input?: I; readonly output?: O };
type AnySchema = StandardSchema<AnyInput, AnyInput> | undefined;

/** A handler with an input schema, an output schema, or policies. */
export function handler<
  Context,
  R extends Returned<O>,
  I extends AnySchema = undefined,
  O extends AnySchema = undefined,
>(
  options: CommonOptions & SchemaOf<I, O> & { readonly shared?: false },
  fn: (ctx: Context, ...input: InputParameters<I>) => R,
): DefinedHandler<Context, InputArguments<I>, Answer<O, R>>;
export function handler<
  Context,
  R extends Returned<O>,
  I extends AnySchema = undefined,
  O extends AnySchema = undefined,
>(
  options: CommonOptions & SchemaOf<I, O> & { readonly shared: true },
  fn: (ctx: Context, ...input: InputParameters<I>) => R,
): SharedHandler<Context, InputArguments<I>, Answer<O, R>>;
export function handler(
  options: HandlerOptions<AnyInput, AnyInput> & { readonly shared?: boolean },
  fn: HandlerFunction<AnyInput>,
): DefinedHandler<AnyInput, AnyInput, AnyInput> & SharedHandler<AnyInput, AnyInput, AnyInput> {
  return wrap(fn, options, options.shared === true);
}

/** A handler that runs beside others of its key, and may only read. With schemas or policies: `shared({ … }, fn)`. */
export function shared<Context, A extends [] | [input?: AnyInput] | [input: AnyInput], R>(
  fn: (ctx: Context, ...input: A) => R,
): SharedHandler<Context, A, Awaited<R>>;
export function shared<
  Context,
  R extends Returned<O>,
  I extends AnySchema = undefined,
  O extends AnySchema = undefined,
>(
  options: CommonOptions & SchemaOf<I, O>,
  fn: (ctx: Context, ...input: InputParameters<I>) => R,
): SharedHandler<Context, InputArguments<I>, Answer<O, R>>;
export function shared(
  first: HandlerFunction<AnyInput> | HandlerOptions<AnyInput, AnyInput>,
  second?: HandlerFunction<AnyInput>,
): SharedHandler<AnyInput, AnyInput, AnyInput> {
  if (typeof first === "function") return wrap(first, {}, true);
  return wrap(second, first, true);
}

function wrap(
  fn: HandlerFunction<AnyInput> | undefined,
  options: HandlerOptions<AnyInput, AnyInput>,
  isShared: boolean,
): { readonly [WRAPPED]: WrappedHandler } {
  if (typeof fn !== "function")
    throw new DefinitionError("a handler with options needs a function as its second argument");
  return { [WRAPPED]: { fn, options, shared: isShared } };
}

/** A handler, ready to run. */
export interface HandlerSpec {
  readonly service: string;
  readonly name: string;
  readonly mode: HandlerMode;
  readonly fn: HandlerFunction<AnyInput>;
  readonly options: HandlerOptions<AnyInput, AnyInput>;
}
