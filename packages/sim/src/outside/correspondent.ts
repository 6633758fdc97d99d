// Those who deal with agents: people who write to them, take messages back, stop, cancel, kill, pause and restart them,
// raise their budgets and take their writes away, and approvers, who answer late, twice, with edits, or no.
//
//   faults ─▶ deciding: all that waits for a person gets its answer ─▶ asking every budget how it stands ─▶ done
//
// Whatever is submitted has an idempotency key and is submitted until there is an answer.

import type { Environment, Question } from "@perdure/engine";
import { isFinished, type Payload, type RunId, type Target, UnknownEffectError } from "@perdure/protocol";
import { type AgentParameters, agentName, isAgent, type OutsideAction } from "../agents/cast.ts";
import type { Shadow, ShadowRun } from "../checkers/shadow.ts";
import type { Random } from "../random.ts";
import type { SimHost } from "../sim-host.ts";
import {
  ALL_SWITCHES,
  type AgentMessage,
  type Approval,
  approvalOf,
  APPROVALS,
  BUDGETS,
  CONTROLS,
  isBudgetQuestion,
  STOP,
} from "./agent-targets.ts";

export interface CorrespondentPorts {
  readonly random: Random;
  readonly parameters: AgentParameters;
  readonly faultMs: number;
  readonly environment: Environment;
  readonly shadow: Shadow;
  after(ms: number, callback: () => void): void;
  host(): SimHost | null;
  trace(text: string): void;
}

const RETRY_MS = 100;
const TEAM = "team";

export class Correspondent {
  readonly #ports: CorrespondentPorts;
  readonly #random: Random;
  /** Submissions that have no answer yet. */
  #open = 0;
  #numbers = 0;
  #isHealed = false;
  /** What was decided last about an approval or a budget: nobody says it again before it was heard. */
  readonly #said: Map<string, RunId> = new Map();
  #isAudited = false;

  constructor(ports: CorrespondentPorts) {
    this.#ports = ports;
    this.#random = ports.random;
  }

  /** Nothing is left that it wants to know. */
  get isDone(): boolean {
    return this.#open === 0 && this.#isAudited;
  }

  begin(): void {
    const { parameters, faultMs } = this.#ports;
    const { teamTokens } = parameters;
    if (teamTokens !== null) this.#submit(budget(TEAM, "open"), { tokens: teamTokens });
    for (let i = 0; i < parameters.messages; i += 1) {
      const at = this.#random.int(0, faultMs);
      const message = this.#message(i);
      const key = `message ${i}`;
      const target = this.#session();
      this.#later(at, () => this.#submit(target, message, key));
      if (this.#random.chance(0.2)) this.#later(this.#random.int(0, faultMs), () => this.#submit(target, message, key));
    }
    if (parameters.actEveryMs > 0) this.#repeat(parameters.actEveryMs, () => this.#act());
    this.#repeat(parameters.answerEveryMs, () => {
      if (this.#random.chance(parameters.answers)) this.#answerOne();
    });
  }

  #later(ms: number, then: () => void): void {
    this.#open += 1;
    this.#ports.after(ms, () => {
      this.#open -= 1;
      then();
    });
  }

  #repeat(everyMs: number, then: () => void): void {
    this.#ports.after(this.#random.int(1, everyMs * 2), () => {
      if (this.#isHealed) return;
      then();
      this.#repeat(everyMs, then);
    });
  }

  #session(): Target {
    const { plans, sessions } = this.#ports.parameters;
    const number = this.#random.chance(0.6) ? 0 : this.#random.int(0, plans.length - 1);
    return { service: agentName(number), key: `s${this.#random.int(0, sessions - 1)}`, handler: "send" };
  }

  #message(number: number): AgentMessage {
    const { policies, teamTokens } = this.#ports.parameters;
    const text = `message <${number}> of the world`;
    const policy = this.#random.weighted(policies);
    return { text, policy, ...(teamTokens !== null && this.#random.chance(0.6) ? { budgets: [TEAM] } : {}) };
  }

  #submit(target: Target, input: unknown, idempotencyKey = `word ${++this.#numbers}`): RunId {
    const { environment } = this.#ports;
    const run = environment.idempotentId(target, idempotencyKey);
    const question: Question = {
      type: "submit",
      run,
      fresh: false,
      target,
      input: input === undefined ? null : JSON.stringify(input),
      headers: null,
      idempotencyKey,
      startAt: null,
      await: false,
    };
    this.#open += 1;
    this.#ask(question);
    return run;
  }

  #ask(question: Question): void {
    const host = this.#ports.host();
    const again = (): void => this.#ports.after(this.#random.int(1, RETRY_MS), () => this.#ask(question));
    if (host === null) return again();
    if (question.type === "submit")
      this.#ports.trace(`submit ${JSON.stringify(question.target)} ${String(question.input)}`);
    void host.ask(question).then((reply) => {
      const isRefused = reply?.type === "refused" && reply.reason === "overloaded";
      if (reply === null || isRefused) again();
      else this.#open -= 1;
    });
  }

  // What people do
  // --------------

  #runs(): readonly ShadowRun[] {
    return [...this.#ports.shadow.runs.values()].filter(
      ({ record, deleted }) => !deleted && isAgent(record.service) && record.handler === "send",
    );
  }

  #act(): void {
    const { actions } = this.#ports.parameters;
    if (Object.values(actions).every((weight) => weight === 0)) return;
    const action = this.#random.weighted<OutsideAction>(actions);
    if (action === "raise" || action === "deny") return this.#decideBudget(action);
    if (action === "writes") return this.#switchWrites();
    const runs = this.#runs().filter(({ record }) => isWanted(action, record.status));
    if (runs.length === 0) return;
    const parents = action === "cancel" ? runs.filter((run) => this.#hasStarted(run)) : [];
    const { record, entries } = this.#random.pick(parents.length > 0 && this.#random.chance(0.8) ? parents : runs);
    const { id: run, service, key, status } = record;
    if (action === "stop") this.#submit({ service, key: key ?? "", handler: STOP }, undefined);
    else this.#do(run, action, isFinished(status) ? 0 : entries.length);
  }

  /** Does a sub-agent of it work in the background? */
  #hasStarted({ record }: ShadowRun): boolean {
    const children = this.#ports.shadow.childrenOf.get(record.id) ?? [];
    return children.some(({ record: child }) => isAgent(child.service) && !isFinished(child.status));
  }

  /**
   * @param entries from which a restart may be asked for. What has ended begins anew: an answer that it waited for may have
   * come when nobody was there, and nobody gives it twice.
   */
  #do(run: RunId, action: Exclude<OutsideAction, "stop" | "raise" | "deny" | "writes">, entries: number): void {
    const host = this.#ports.host();
    if (host === null) return;
    const type = action === "withdraw" ? "cancel" : action;
    const question: Question =
      type === "restart"
        ? { type, run, from: this.#random.chance(0.5) ? 1 : this.#random.int(1, entries + 1) }
        : { type, run };
    this.#ports.trace(`${type} ${run}`);
    void host.ask(question);
  }

  #budgets(): readonly string[] {
    return [...this.#ports.shadow.state.keys()].flatMap((name) =>
      name.startsWith(`${BUDGETS}/`) ? [name.slice(BUDGETS.length + 1)] : [],
    );
  }

  #decideBudget(action: "raise" | "deny"): void {
    const names = this.#budgets();
    if (names.length === 0) return;
    const raise = action === "raise" ? { tokens: this.#random.int(1, 2_000) } : {};
    this.#submit(budget(this.#random.pick(names), action), { ...raise, by: "ada" });
  }

  #switchWrites(): void {
    const { plans } = this.#ports.parameters;
    const target = this.#random.pick(["*", ...plans.map(({ name }) => name)]);
    const writes = this.#random.weighted({ allow: 2, ask: 1, deny: 1 });
    this.#submit({ service: CONTROLS, key: ALL_SWITCHES, handler: "set" }, { target, writes, by: "ada" });
  }

  // Approvals
  // ---------

  #approvals(): readonly ShadowRun[] {
    return [...this.#ports.shadow.runs.values()].filter(
      ({ record, deleted }) => !deleted && record.service === APPROVALS && record.handler === "run",
    );
  }

  /** Now and then one that has its answer already. */
  #answerOne(): void {
    const all = this.#approvals();
    const open = all.filter(({ record }) => !isFinished(record.status));
    const from = this.#random.chance(0.15) ? all : open;
    if (from.length === 0) return;
    const run = this.#random.pick(from);
    const kind = this.#random.weighted({ approved: 4, edited: 2, rejected: 2 });
    this.#answer(run, kind);
  }

  #answer({ record }: ShadowRun, kind: "approved" | "edited" | "rejected"): RunId {
    const target = { service: APPROVALS, key: record.key ?? "", handler: "answer" };
    const request = approvalOf(record.input);
    const answer = {
      decision: kind === "rejected" ? "rejected" : "approved",
      by: "ada",
      ...(kind === "edited" || (kind === "approved" && isBudgetQuestion(request))
        ? { input: this.#edit(request) }
        : {}),
    };
    return this.#submit(target, answer);
  }

  /** What is approved instead: of a budget's question now and then something that nobody can use. */
  #edit(request: Approval): unknown {
    if (!isBudgetQuestion(request)) return { ...(request.input as object), amount: this.#random.int(100, 199) };
    return { tokens: this.#isHealed ? 20_000 : this.#random.pick([-1, 300, 3_000]) };
  }

  // After the faults
  // ----------------

  heal(): void {
    this.#isHealed = true;
  }

  /** Gives an answer to all that waits for one; last, asks each budget how it stands. */
  decide(): void {
    const host = this.#ports.host();
    if (host === null) return;
    for (const run of this.#ports.shadow.runs.values()) {
      if (run.deleted || !isOfAgents(run)) continue;
      if (run.record.status === "paused") resume(host, run);
    }
    for (const run of this.#approvals()) {
      if (isFinished(run.record.status)) continue;
      // What came too early is said again.
      const kind = this.#random.weighted({ approved: 4, edited: 2, rejected: 1 });
      this.#say(run.record.id, () => this.#answer(run, kind));
    }
    for (const name of this.#budgets())
      if (this.#isStuck(name)) this.#say(name, () => this.#submit(budget(name, "raise"), { tokens: 20_000 }));
    if (!this.#isAudited && this.#open === 0 && this.#isQuiet()) {
      this.#isAudited = true;
      for (const name of this.#budgets()) this.#submit(budget(name, "status"), undefined);
    }
  }

  #say(about: string, say: () => RunId): void {
    const last = this.#said.get(about);
    const heard = last === undefined ? undefined : this.#ports.shadow.runs.get(last);
    if (last === undefined || heard?.deleted === true || isFinished(heard?.record.status ?? "queued"))
      this.#said.set(about, say());
  }

  /**
   * A run that was restarted keeps what a former life had reserved until it ends, while it may wait for one that waits for
   * just that; or until somebody looks, where the watch of its former end still stands. A person raises the budget.
   */
  #isStuck(name: string): boolean {
    const { shadow } = this.#ports;
    const places = [...(shadow.state.get(`${BUDGETS}/${name}`)?.entries() ?? [])].filter(([at]) =>
      at.startsWith("open/"),
    );
    const isHeld = ([at, value]: readonly [string, Payload]): boolean => {
      const run = shadow.run(at.split("/")[1] as RunId)?.record;
      return run !== undefined && run.generation > 0 && String(value).includes('"state":"held"');
    };
    return places.some(isHeld) && places.some(([, value]) => String(value).includes('"state":"waiting"'));
  }

  #isQuiet(): boolean {
    for (const { record, deleted } of this.#ports.shadow.runs.values())
      if (!deleted && !isFinished(record.status)) return false;
    return true;
  }
}

function budget(key: string, handler: string): Target {
  return { service: BUDGETS, key, handler };
}

/** A run of an agent, or of what agents are made of. */
export function isOfAgents({ record }: ShadowRun): boolean {
  return isAgent(record.service) || record.service.startsWith("perdure.");
}

function isWanted(action: OutsideAction, status: ShadowRun["record"]["status"]): boolean {
  switch (action) {
    case "withdraw":
      return status === "queued";
    case "restart":
      return false; // Not promised: the session goes on meanwhile, and a message begun again would be said again.
    case "resume":
      return status === "paused";
    default:
      return !isFinished(status);
  }
}

/** An effect whose outcome is unknown is said not to have happened. */
function resume(host: SimHost, { record, entries }: ShadowRun): void {
  const last = entries.findLast(({ entry }) => entry.kind === "retry")?.entry;
  if (record.pausedBy?.errorCode === UnknownEffectError.code && last?.kind === "retry")
    void host.ask({ type: "settleEffect", run: record.id, command: last.id });
  void host.ask({ type: "resume", run: record.id });
}
