// Both memories of an agent, for tests that hold in both: the same cast, in Node and inside isolates.

import type { AnyDefinition } from "perdure";
import { TestWorld, type CrashTest } from "perdure/testing";

export interface Memory {
  readonly memory: "journal" | "snapshot";
  /** In isolates every world begins with loading code: fewer points have to do. */
  readonly pointsMax: number;
}

export const MEMORIES: readonly Memory[] = [
  { memory: "journal", pointsMax: 60 },
  { memory: "snapshot", pointsMax: 4 },
];

/** Crash tests in isolates take their time on a busy machine. */
export const SLOWLY = { timeout: 300_000 } as const;

/** How worlds of the cast are opened. */
export function inMemory({ memory }: Memory): Pick<CrashTest, "mode" | "sources" | "images"> {
  return { mode: memory, sources: [new URL("./cast.ts", import.meta.url)], images: "every" };
}

export async function worldOf(memory: Memory, ...services: readonly AnyDefinition[]): Promise<TestWorld> {
  return await new TestWorld({ services, ...inMemory(memory) }).open();
}
