// The development guard: nothing slips through unjournaled
// ========================================================
// Handler code runs again on a replay. What it does outside a step it then does again: another time, another random
// number, a second request. While developing, this guard catches such effects where they happen and says how to journal
// them. It knows whose code runs by an AsyncLocalStorage that the executor enters for handlers and for steps.
//
//   none (the runtime's own code) ─▶ handler ─▶ step ─▶ handler …
//
// G1. Only code in the state `handler` is reported; inside steps everything is allowed.
// G2. A place in the code is reported once per process, however often it runs.
// G3. The guard changes nothing of what the caught call does, unless it is told to throw.
// G4. The runtime's own work never runs in a handler's scope: `outside` leaves it.

import { AsyncLocalStorage } from "node:async_hooks";
import type { HandlerScope } from "@perdure/sdk";
import { UnjournaledEffectError } from "@perdure/protocol";
import { callSite, type CallSite } from "./call-site.ts";

export interface UnjournaledEffect {
  /** What was called: `Date.now()`, `fetch("https://…")`. */
  readonly what: string;
  /** How to do it instead. */
  readonly fix: string;
  readonly site: CallSite | null;
  readonly scope: HandlerScope;
}

export type GuardMode = "warn" | "throw";

interface Frame {
  readonly scope: HandlerScope;
  readonly state: "handler" | "step";
}

export interface NoticeOptions {
  /** Only what a line of the user's is to blame for. Default true. */
  readonly siteRequired?: boolean;
  /** Frames of a library that may do it, whoever called that. */
  readonly through?: RegExp;
}

export interface EffectGuardOptions {
  readonly mode: GuardMode;
  readonly report: (effect: UnjournaledEffect) => void;
}

export class EffectGuard {
  readonly #storage = new AsyncLocalStorage<Frame | undefined>();
  readonly #seen = new Set<string>();
  readonly #mode: GuardMode;
  readonly #report: (effect: UnjournaledEffect) => void;

  constructor(options: EffectGuardOptions) {
    this.#mode = options.mode;
    this.#report = options.report;
  }

  readonly runHandler = <T>(scope: HandlerScope, body: () => T): T =>
    this.#storage.run({ scope, state: "handler" }, body);

  readonly runStep = <T>(scope: HandlerScope, body: () => T): T => this.#storage.run({ scope, state: "step" }, body);

  readonly insideStep = (): boolean => this.#storage.getStore()?.state === "step";

  /** Runs the runtime's own code, in nobody's scope (G4). */
  readonly outside = <T>(body: () => T): T => this.#storage.run(undefined, body);

  /** Runs what has been noticed already, so that its inner calls are not reported as well. */
  readonly noticedAlready = <T>(body: () => T): T => {
    const frame = this.#storage.getStore();
    return frame === undefined ? body() : this.#storage.run({ scope: frame.scope, state: "step" }, body);
  };

  /** Called by the watches at each effect. @throws UnjournaledEffectError in mode `throw` */
  notice(what: string, fix: string, { siteRequired = true, through }: NoticeOptions = {}): void {
    const frame = this.#storage.getStore();
    if (frame === undefined || frame.state === "step") return;
    const site = callSite(through);
    // Without a line of the user's on the stack it is the work of a library or of Node, begun earlier.
    if (site === null && siteRequired) return;
    const place = `${what} ${site === null ? `${frame.scope.service}/${frame.scope.handler}` : site.text}`;
    if (!this.#seen.has(place)) {
      this.#seen.add(place);
      this.#report({ what, fix, site, scope: frame.scope });
    }
    if (this.#mode === "throw")
      throw new UnjournaledEffectError(describeEffect({ what, fix, site, scope: frame.scope }));
  }
}

export function describeEffect(effect: UnjournaledEffect): string {
  const { service, handler } = effect.scope;
  const where = effect.site === null ? `in ${service}/${handler}` : `at ${effect.site.text} in ${service}/${handler}`;
  return `${effect.what} ${where} is not journaled: a replay does it again. ${effect.fix}`;
}
