// The outside world: callers who submit runs, and people who signal, cancel, pause, restart, purge and edit at random
// times. When the faults are over it becomes the decider: it resumes what is paused, settles what is unknown, and sends
// whatever is waited for.

import { derivedId, type Environment, type Question } from "@perdure/engine";
import {
  type Awaiting,
  CANCEL_SIGNAL,
  type Entry,
  isFinished,
  ItemsTrimmedError,
  type Run,
  type RunId,
  UnknownEffectError,
  valueResult,
} from "@perdure/protocol";
import { runIdOf, targetOf } from "../catalogue.ts";
import type { Shadow, ShadowRun } from "../checkers/shadow.ts";
import type { Parameters, OperatorAction } from "../parameters.ts";
import { encodeInput, idempotencyKeyFor, keyFor, type Kind, type Program } from "../program.ts";
import type { Random } from "../random.ts";
import type { SimHost } from "../sim-host.ts";
import { isOfAgents } from "./correspondent.ts";

export interface OperatorPorts {
  readonly random: Random;
  readonly parameters: Parameters;
  readonly programs: readonly Program[];
  readonly environment: Environment;
  /** Where people look up runs: an admin surface would read the store. */
  readonly shadow: Shadow;
  after(ms: number, callback: () => void): void;
  now(): number;
  /** A host to ask, which need not own the partition any more; null: none is up. */
  host(): SimHost | null;
  trace(text: string): void;
}

const RETRY_MS = 100;

export class Operator {
  readonly #ports: OperatorPorts;
  readonly #random: Random;
  #numbers = 0;
  /** What was submitted under ids that can be submitted again. */
  readonly #submissions: Map<RunId, Question> = new Map();
  /** Submissions that have no answer yet. */
  open = 0;
  #healed = false;

  constructor(ports: OperatorPorts) {
    this.#ports = ports;
    this.#random = ports.random;
  }

  /** Puts the submissions and the first action on the agenda. */
  begin(): void {
    const { parameters } = this.#ports;
    for (let i = 0; i < parameters.submissions; i += 1) {
      const question = this.#submission();
      if (!question.fresh) this.#submissions.set(question.run, question);
      this.open += 1;
      this.#ports.after(this.#random.int(0, parameters.faultMs), () => this.#submit(question));
      if (question.idempotencyKey !== null && this.#random.chance(0.5)) {
        this.open += 1;
        this.#ports.after(this.#random.int(0, parameters.faultMs), () => this.#submit(question));
      }
    }
    if (parameters.operatorEveryMs > 0) this.#planAction();
  }

  #submission(): Extract<Question, { type: "submit" }> {
    const { parameters, programs, environment } = this.#ports;
    const random = this.#random;
    const program = random.int(0, programs.length - 1);
    const usual = programs[program]?.kind ?? "service";
    const kind: Kind = random.chance(0.1) ? "service" : usual;
    const target = targetOf({
      kind,
      key: keyFor(kind, program, random.int(0, parameters.programs.keysPerProgram - 1)),
    });
    const idempotencyKey =
      kind !== "workflow" && random.chance(0.4) ? idempotencyKeyFor(program, random.int(0, 1)) : null;
    const derived = derivedId(environment, target, idempotencyKey, environment.mode(target) ?? "service");
    return {
      type: "submit",
      run: derived ?? runIdOf(`submission ${++this.#numbers}`),
      fresh: derived === null,
      target,
      input: encodeInput({ program }),
      headers: random.chance(0.2) ? { from: "outside" } : null,
      idempotencyKey,
      startAt: random.chance(0.2) ? this.#ports.now() + random.int(0, parameters.faultMs) : null,
      await: random.chance(0.5),
    };
  }

  /** Asked until there is an answer; but a run with an id of its own is asked for once, as nobody knows what became of it. */
  #submit(question: Extract<Question, { type: "submit" }>): void {
    const host = this.#ports.host();
    if (host === null) return this.#ports.after(RETRY_MS, () => this.#submit(question));
    void host.ask(question).then((reply) => {
      const isRefused = reply?.type === "refused" && reply.reason === "overloaded";
      if (isRefused || (reply === null && !question.fresh))
        this.#ports.after(this.#random.int(1, RETRY_MS), () => this.#submit(question));
      else this.open -= 1;
    });
  }

  #planAction(): void {
    this.#ports.after(this.#random.int(1, this.#ports.parameters.operatorEveryMs * 2), () => {
      if (this.#healed) return;
      this.#act();
      this.#planAction();
    });
  }

  #act(): void {
    const host = this.#ports.host();
    const runs = [...this.#ports.shadow.runs.values()].filter((run) => !run.deleted && !isOfAgents(run));
    if (host === null || runs.length === 0) return;
    const { operator } = this.#ports.parameters;
    if (Object.values(operator).every((weight) => weight === 0)) return;
    const action = this.#random.weighted<OperatorAction>(operator);
    const finished = runs.filter(({ record }) => isFinished(record.status));
    const open = runs.filter(({ record }) => !isFinished(record.status));
    const wantsFinished = action === "purge" || (action === "restart" && this.#random.chance(0.5));
    const parents = open.filter(({ record }) => (this.#ports.shadow.childrenOf.get(record.id)?.length ?? 0) > 0);
    const wanted = wantsFinished ? finished : parents.length > 0 && this.#random.chance(0.4) ? parents : open;
    const from = this.#random.chance(0.1) ? runs : wanted;
    if (from.length === 0) return;
    const run = this.#random.pick(from);
    this.#ask(host, this.#question(action, run));
    // Several people at once, or one who does not trust the first answer: what they ask meets in one batch.
    const more = this.#random.int(0, this.#ports.parameters.operatorBurstMax);
    for (let i = 0; i < more; i += 1) this.#askMore(host, run);
  }

  #ask(host: SimHost, question: Question | null): void {
    if (question === null) return;
    this.#ports.trace(`${question.type} ${JSON.stringify({ ...question, type: undefined })}`);
    // Some do not wait for the answer.
    void host.ask(question, this.#random.chance(0.1) ? this.#random.int(0, 200) : undefined);
  }

  /** Something else about the same run, or about its parent or a child. */
  #askMore(host: SimHost, run: ShadowRun): void {
    const { shadow, parameters } = this.#ports;
    const again = this.#submissions.get(run.record.id);
    if (again !== undefined && this.#random.chance(0.25)) return this.#ask(host, again);
    const parent = run.record.parent === null ? undefined : shadow.run(run.record.parent.run);
    const family = [...(shadow.childrenOf.get(run.record.id) ?? []), ...(parent === undefined ? [] : [parent])].filter(
      (member) => !isOfAgents(member),
    );
    const whom = family.length > 0 && this.#random.chance(0.4) ? this.#random.pick(family) : run;
    this.#ask(host, this.#question(this.#random.weighted<OperatorAction>(parameters.operator), whom));
  }

  #question(action: OperatorAction, { record, entries, images }: ShadowRun): Question | null {
    const random = this.#random;
    const run = record.id;
    switch (action) {
      case "signal":
        return this.#signal(record, this.#signalName(record));
      case "restart":
        return { type: "restart", run, from: random.chance(0.3) ? 1 : random.int(1, entries.length + 1) };
      case "settle":
        return this.#settle(
          run,
          entries.map(({ entry }) => entry),
        );
      case "fork":
        return this.#fork(record, entries.length);
      case "rewind":
        return { type: "rewind", run, at: random.int(0, entries.length), branch: runIdOf(`branch ${++this.#numbers}`) };
      case "name": {
        const { entry } = images.length === 0 ? { entry: 1 } : random.pick(images);
        return { type: "nameMoment", run, entry, name: random.chance(0.3) ? null : `moment ${++this.#numbers}` };
      }
      case "edit":
        return record.key === null ? null : this.#edit(record.service, record.key);
      default:
        return { type: action, run };
    }
  }

  /** Mostly at an entry that is there; a workflow's fork has the id of its key. */
  #fork({ id: run, service, key, mode, input }: Run, entries: number): Question {
    const random = this.#random;
    const number = ++this.#numbers;
    const place = random.chance(0.2) ? {} : { at: random.int(0, entries + (random.chance(0.1) ? 1 : 0)) };
    const more = {
      ...place,
      ...(place.at === 0 && input !== null && random.chance(0.5) ? { input } : {}),
      ...(random.chance(0.3) ? { note: JSON.stringify(`note ${number}`) } : {}),
    };
    if (mode !== "workflow") return { type: "fork", run, id: runIdOf(`fork ${number}`), ...more };
    const other = `${key ?? ""}~${number}`;
    return { type: "fork", run, id: this.#ports.environment.workflowId(service, other), key: other, ...more };
  }

  #signalName(record: Run): string | number {
    const awaited = (record.awaiting ?? []).flatMap((item) => (item.kind === "signal" ? [item.signal] : []));
    if (awaited.length > 0 && this.#random.chance(0.7)) return this.#random.pick(awaited);
    return this.#random.pick(["s0", "s1", "s0", "s1", 17, CANCEL_SIGNAL]);
  }

  #signal(record: Run, signal: string | number): Question {
    const payload = valueResult(JSON.stringify(`signal ${++this.#numbers}`));
    return signal === CANCEL_SIGNAL
      ? { type: "cancel", run: record.id }
      : { type: "signal", run: record.id, signal, payload };
  }

  #settle(run: RunId, entries: readonly Entry[]): Question | null {
    const steps = entries.flatMap((entry) =>
      entry.kind === "command" && entry.command.type === "step" ? [entry.id] : [],
    );
    if (steps.length === 0) return null;
    const command = this.#random.pick(steps);
    const question = { type: "settleEffect", run, command } as const;
    return this.#random.chance(0.5)
      ? question
      : { ...question, result: valueResult(JSON.stringify(`settled ${++this.#numbers}`)) };
  }

  /** By force only where what code reads is not compared between attempts: a forced edit changes it. */
  #edit(service: string, key: string): Question {
    const random = this.#random;
    const changes = new Map([
      [`v${random.int(0, 2)}`, random.chance(0.3) ? null : JSON.stringify(`edited ${++this.#numbers}`)],
    ]);
    return {
      type: "editState",
      key: { service, key },
      changes,
      expected: new Map(),
      force: this.#ports.parameters.executor.kind === "script" && random.chance(0.2),
    };
  }

  heal(): void {
    this.#healed = true;
  }

  /** After the faults: gives every run what it waits for. `waits` says what live attempts wait for. */
  decide(waits: (run: RunId) => readonly Awaiting[]): void {
    const host = this.#ports.host();
    if (host === null) return;
    for (const run of this.#ports.shadow.runs.values()) {
      const { record, deleted } = run;
      if (deleted || isFinished(record.status) || isOfAgents(run)) continue; // Those are dealt with by others.
      if (record.status === "paused") this.#goOn(host, run);
      if (record.status !== "running" && record.status !== "suspended") continue;
      for (const wait of waits(record.id)) {
        if (wait.kind === "signal") void host.ask(this.#signal(record, wait.signal));
        else if (wait.kind === "completion") this.#keepPromise(host, run, wait.id);
      }
    }
  }

  #goOn(host: SimHost, { record, entries }: ShadowRun): void {
    const last = entries.findLast(({ entry }) => entry.kind === "retry")?.entry;
    const isUnknown = record.pausedBy?.errorCode === UnknownEffectError.code && last?.kind === "retry";
    if (isUnknown) {
      const question = { type: "settleEffect", run: record.id, command: last.id } as const;
      void host.ask(this.#random.chance(0.5) ? question : { ...question, result: valueResult('"decided"') });
    }
    // What the journal points to is gone: it can only begin anew.
    const isTrimmed = record.pausedBy?.errorCode === ItemsTrimmedError.code;
    void host.ask(isTrimmed ? { type: "restart", run: record.id, from: 1 } : { type: "resume", run: record.id });
  }

  #keepPromise(host: SimHost, { record, entries }: ShadowRun, id: number): void {
    const waiting = entries.find(({ entry }) => entry.kind === "command" && entry.id === id)?.entry;
    if (waiting?.kind !== "command" || waiting.command.type !== "getPromise" || record.key === null) return;
    const target = targetOf({ kind: "poke", key: record.key });
    const input = encodeInput({ program: -1, promise: waiting.command.key });
    void host.ask({
      type: "submit",
      run: runIdOf(`poke ${++this.#numbers}`),
      fresh: true,
      target,
      input,
      headers: null,
      idempotencyKey: null,
      startAt: null,
      await: false,
    });
  }
}
