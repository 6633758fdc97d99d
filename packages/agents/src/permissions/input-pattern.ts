// Patterns of a rule, as functions. `place` says which one it is, for messages.

import { DefinitionError } from "@perdure/protocol";
import { matchesGlob, parseGlob } from "./glob.ts";
import type { InputPattern } from "./types.ts";

export type CompiledPattern = (value: unknown, input: unknown, place: string) => boolean;

/** @throws DefinitionError where nothing could fit it. */
export function compilePattern(pattern: InputPattern, place: string): CompiledPattern {
  if (typeof pattern === "function") return (value, input, at) => checkAnswer(() => pattern(value, input), at);
  if (typeof pattern === "string") return compileText(pattern, place);
  if (pattern instanceof RegExp) {
    // Without the flags that make it remember where it was: it has to answer alike every time.
    const expression = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ""));
    return (value) => typeof value === "string" && expression.test(value);
  }
  if (isList(pattern)) {
    if (pattern.length === 0) throw new DefinitionError(`${place}: nothing fits an empty list`);
    const members = pattern.map((member, index) => compilePattern(member, `${place}, ${index + 1} of the list`));
    return (value, input, at) => members.some((member) => member(value, input, at));
  }
  if (pattern !== null && typeof pattern !== "boolean" && !Number.isFinite(pattern))
    throw new DefinitionError(
      `${place}: ${describe(pattern)} fits nothing: write a value, a glob, an expression, a list or a function`,
    );
  return (value) => value === pattern;
}

function compileText(text: string, place: string): CompiledPattern {
  const glob = parseGlob(text);
  if (glob === undefined) throw new DefinitionError(`${place}: "${text}" ends in a \\ that stands before nothing`);
  return (value) => typeof value === "string" && matchesGlob(glob, value);
}

function isList(pattern: InputPattern): pattern is readonly InputPattern[] {
  return Array.isArray(pattern);
}

function describe(value: unknown): string {
  return typeof value === "object" || typeof value === "function" ? "an object" : `${value as string}`;
}

/** What a user's function answers. @throws DefinitionError (R3) */
export function checkAnswer(ask: () => unknown, place: string): boolean {
  let answer: unknown;
  try {
    answer = ask();
  } catch (cause) {
    throw new DefinitionError(`${place} threw: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
  if (typeof answer === "boolean") return answer;
  const what = answer instanceof Promise ? "a promise: it cannot wait" : describe(answer);
  throw new DefinitionError(`${place} answered with ${what}; it must answer with true or false`);
}
