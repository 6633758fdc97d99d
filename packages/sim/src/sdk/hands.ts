"use host";
// What handlers in isolates ask of their world. Each life of a host gives its isolates functions of its own under these names
// (isolates.ts); these here are never called.

import { AssertionError } from "@perdure/protocol";
import type { StepInfo } from "@perdure/sdk";
import type { EffectOutcome } from "../effects.ts";
import type { Program, StepNode } from "../program.ts";

export async function programOf(_info: StepInfo, _number: number): Promise<Program | null> {
  throw new AssertionError("a world gives its isolates its own programs");
}

export async function execute(_info: StepInfo, _node: StepNode): Promise<EffectOutcome> {
  throw new AssertionError("a world gives its isolates its own effects");
}
