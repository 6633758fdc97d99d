// All checkers behind one door: observations go in, violations come out.

import type { RunId } from "@perdure/protocol";
import { Names, type Observation, type Violation } from "../observations.ts";
import { createAgentCheckers } from "./agents/all.ts";
import { attemptChecker } from "./attempt-checker.ts";
import { createCancelChecker } from "./cancel-checker.ts";
import type { Checker, Context, SeenAttempt } from "./checker.ts";
import { createDeliveryChecker } from "./delivery-checker.ts";
import { createEffectChecker } from "./effect-checker.ts";
import { forkChecker } from "./fork-checker.ts";
import { createIdempotencyChecker } from "./idempotency-checker.ts";
import { createImageChecker } from "./image-checker.ts";
import { journalChecker } from "./journal-checker.ts";
import { createKeyChecker } from "./key-checker.ts";
import { replyChecker } from "./reply-checker.ts";
import { settleChecker } from "./settle-checker.ts";
import { Shadow } from "./shadow.ts";
import { createStateChecker } from "./state-checker.ts";
import { createStreamChecker } from "./stream-checker.ts";
import { timerChecker } from "./timer-checker.ts";

export class Checkers {
  readonly shadow: Shadow = new Shadow();
  readonly violations: Violation[] = [];
  readonly #checkers: readonly Checker[];
  readonly #attempts: Map<number, SeenAttempt> = new Map();
  readonly #lastAttempt: Map<RunId, SeenAttempt> = new Map();
  readonly #context: Context;

  constructor(names: Names = new Names()) {
    const report = (promise: string, text: string) => void this.violations.push({ promise, text });
    this.#context = { shadow: this.shadow, attempts: this.#attempts, lastAttempt: this.#lastAttempt, names, report };
    this.#checkers = [
      attemptChecker,
      journalChecker,
      createEffectChecker(),
      createKeyChecker(),
      createDeliveryChecker(),
      timerChecker,
      createCancelChecker(),
      settleChecker,
      createIdempotencyChecker(),
      replyChecker,
      createStateChecker(),
      createStreamChecker(),
      createImageChecker(),
      forkChecker,
      ...createAgentCheckers(),
    ];
  }

  see(observation: Observation): void {
    if (observation.type === "committed") this.#commit(observation);
    else {
      this.#before(observation);
      for (const checker of this.#checkers) checker.observe?.(this.#context, observation);
      this.#after(observation);
    }
  }

  #commit(observation: Extract<Observation, { type: "committed" }>): void {
    this.shadow.fresh.clear();
    for (const checker of this.#checkers) checker.beforeCommit?.(this.#context, observation);
    for (const mutation of observation.commit.mutations) {
      for (const checker of this.#checkers) checker.beforeMutation?.(this.#context, mutation, observation);
      this.shadow.apply(mutation, observation.tick);
    }
    for (const checker of this.#checkers) checker.afterCommit?.(this.#context, observation);
  }

  #before(observation: Observation): void {
    if (observation.type === "acquired") {
      this.shadow.epoch = observation.epoch;
      this.shadow.owner = observation.host;
    } else if (observation.type === "started") {
      const { attempt: number, host, epoch, start } = observation;
      const attempt: SeenAttempt = { number, host, epoch, start, told: 0, seen: null, over: null };
      this.#attempts.set(number, attempt);
      if (epoch === this.shadow.epoch) this.#lastAttempt.set(start.run, attempt);
    }
  }

  #after(observation: Observation): void {
    if (observation.type === "started") {
      const { entries, image } = observation.start;
      this.#told(observation.attempt, entries.at(-1)?.index ?? image?.info.entry ?? 0);
    } else if (observation.type === "told") this.#told(observation.attempt, observation.entries.at(-1)?.index ?? 0);
    else if (observation.type === "over") {
      const attempt = this.#attempts.get(observation.attempt);
      if (attempt === undefined) return;
      attempt.over = observation.how;
      attempt.seen = observation.entriesSeen ?? null;
      this.#attempts.delete(observation.attempt); // Those that are over cannot clash; the last of each run is kept.
    }
  }

  #told(number: number, index: number): void {
    const attempt = this.#attempts.get(number);
    if (attempt !== undefined) attempt.told = Math.max(attempt.told, index);
  }
}
