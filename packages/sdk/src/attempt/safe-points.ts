// The safe points of an attempt, and the state that a migration left for one of them.

import {
  type AttemptStart,
  type MigrationTold,
  SAFE_POINT_PREFIX,
  type SafePointMark,
  type StepCommand,
} from "@perdure/protocol";
import { decodeResult } from "../json.ts";

export class SafePoints {
  /** Until code comes to the point that it is for. */
  #migrated: MigrationTold | undefined;

  constructor({ entries, migrated }: AttemptStart) {
    const told = migrated === null ? undefined : entries.find(({ index }) => index === migrated.told);
    this.#migrated = told?.kind === "resumed" ? told.migrated : undefined;
  }

  /** What is journaled, and what code goes on with. */
  reached(mark: SafePointMark, state: unknown): readonly [command: StepCommand, given: () => unknown] {
    const command: StepCommand = { type: "step", name: `${SAFE_POINT_PREFIX}${mark.point}`, safePoint: mark };
    const migrated = this.#migrated;
    if (migrated?.point !== mark.point) return [command, () => state];
    this.#migrated = undefined;
    return [command, () => decodeResult(migrated.state)];
  }
}
