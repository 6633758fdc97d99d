// The scripted executor: attempts that react late, fail, suspend at once or never, as the seed has it. It speaks the
// conversation of protocol/conversation.ts and nothing else.
//
//   late ─▶ live (running steps, waiting, resting) ─▶ over

import type { Attempt, AttemptReplies, AttemptStart, Awaiting, Entry, Executor } from "@perdure/protocol";
import { failureResult, JournalMismatchError, UnknownEffectError, valueResult } from "@perdure/protocol";
import type { Effects } from "../effects.ts";
import type { ExecutorParameters, ImageParameters } from "../parameters.ts";
import { type Program, type ProgramInput, STREAM, type StepNode } from "../program.ts";
import type { Random } from "../random.ts";
import { handler } from "./interpreter.ts";
import { encodeImage } from "./image.ts";
import { Machine, Mismatch, type StepProgress } from "./machine.ts";

export interface ScriptPorts {
  readonly programs: readonly Program[];
  readonly settings: ExecutorParameters;
  readonly random: Random;
  readonly effects: Effects;
  now(): number;
  /** In time of the world, unless the host dies before. */
  after(ms: number, callback: () => void): void;
  wakeAt(at: number, callback: () => void): void;
  /** Probability with which an attempt fails where it could go on; 0 once the faults are over. */
  attemptFails(): number;
  executed(start: AttemptStart, command: number): void;
  observed(start: AttemptStart, command: number, result: Parameters<AttemptReplies["propose"]>[1]): void;
  readonly images: ImageParameters;
  /** Apart, so that worlds without images are the same. */
  readonly imaging: Random;
  /** Probability with which an image cannot be read; 0 once the faults are over. */
  imageUnusable(): number;
}

export class ScriptExecutor implements Executor {
  readonly #ports: ScriptPorts;
  constructor(ports: ScriptPorts) {
    this.#ports = ports;
  }
  start(start: AttemptStart, replies: AttemptReplies): Attempt {
    return new ScriptAttempt(this.#ports, start, replies);
  }
}

type StepState = "running" | "proposed" | "waiting";

class ScriptAttempt implements Attempt {
  readonly #ports: ScriptPorts;
  readonly #start: AttemptStart;
  readonly #replies: AttemptReplies;
  readonly #machine: Machine;
  readonly #steps: Map<number, StepState> = new Map();
  readonly #policy: "eager" | "never" | "delayed";
  readonly #imaging: Random;
  #inbox: Entry[] = [];
  #reacting = false;
  #begun = false;
  #over = false;
  #yielding = false;
  #rests = 0;

  constructor(ports: ScriptPorts, start: AttemptStart, replies: AttemptReplies) {
    this.#ports = ports;
    this.#start = start;
    this.#replies = replies;
    const { random, settings } = ports;
    this.#imaging = ports.imaging;
    this.#policy = settings.suspending === "mixed" ? random.pick(["eager", "never", "delayed"]) : settings.suspending;
    const input = JSON.parse(String(start.input)) as ProgramInput;
    const node = ports.programs[input.program]?.node ?? { op: "seq", nodes: [] };
    this.#machine = new Machine(start, input, this.#machinePorts(), (machine) => handler(machine, node));
    const late = random.int(0, settings.lateStartMsMax);
    if (late > 0) ports.after(late, () => this.#begin());
    else this.#begin();
  }

  #machinePorts(): ConstructorParameters<typeof Machine>[2] {
    return {
      now: () => this.#ports.now(),
      ask: (id, asked) => this.#replies.command(id, asked.command, asked.given, asked.items),
      observed: (id, result) => this.#ports.observed(this.#start, id, result),
    };
  }

  notify(entries: readonly Entry[]): void {
    if (this.#over) return;
    this.#inbox.push(...entries);
    if (!this.#begun || this.#reacting) return;
    const inMs = this.#ports.random.int(0, this.#ports.settings.reactMsMax);
    if (inMs === 0) this.#react();
    else {
      this.#reacting = true;
      this.#ports.after(inMs, () => {
        this.#reacting = false;
        this.#react();
      });
    }
  }

  abort(): void {
    this.#over = true;
  }

  awaiting(): readonly Awaiting[] | null {
    return this.#begun && !this.#over && this.#isBlocked() ? this.#awaits() : null;
  }

  yield(): void {
    this.#yielding = true;
    if (this.#begun && !this.#over) this.#rest();
  }

  #begin(): void {
    if (this.#over) return;
    this.#begun = true;
    if (this.#isUnusable()) return;
    if (this.#fails() || this.#isTrimmed()) return;
    this.#guard(() => this.#machine.begin());
    this.#react();
  }

  #react(): void {
    if (this.#over) return;
    if (this.#inbox.length > 0 && this.#fails()) return;
    const entries = this.#inbox;
    this.#inbox = [];
    this.#guard(() => {
      for (const entry of entries) this.#machine.feed(entry);
    });
    this.#goOn();
  }

  /** Code that takes another path than the recorded one: never right in this world. */
  #guard(body: () => void): void {
    try {
      body();
    } catch (error) {
      if (!(error instanceof Mismatch)) throw error;
      this.#over = true;
      this.#replies.error({ failure: new JournalMismatchError(error.message).toFailure(), behavior: "pause" });
    }
  }

  #isUnusable(): boolean {
    if (this.#start.image === null || !this.#imaging.chance(this.#ports.imageUnusable())) return false;
    this.#over = true;
    this.#replies.imageUnusable({ code: 500, message: "the image cannot be read" });
    return true;
  }

  /** Its code waits: it may be captured. What was captured may be said later. */
  #image(): void {
    const { capture, lateMsMax } = this.#ports.images;
    if (!this.#imaging.chance(capture)) return;
    const captured = this.#machine.capture();
    if (captured === null) return;
    const image = encodeImage(captured);
    const late = this.#imaging.int(0, lateMsMax);
    if (late === 0) this.#replies.image(image);
    else
      this.#ports.after(late, () => {
        if (!this.#over) this.#replies.image(image);
      });
  }

  #fails(): boolean {
    if (!this.#ports.random.chance(this.#ports.attemptFails())) return false;
    const behavior = this.#ports.random.weighted({ retry: 10, pause: 1, fail: 0.5 });
    this.#over = true;
    this.#replies.error({ failure: { code: 500, message: "the handler failed" }, behavior });
    return true;
  }

  /** What the code saw before cannot be shown to it again (P0038). */
  #isTrimmed(): boolean {
    for (const entry of this.#start.entries) {
      if (!("kept" in entry) || entry.result?.kind !== "failure") continue;
      this.#over = true;
      this.#replies.error({ failure: entry.result.failure, behavior: "pause" });
      return true;
    }
    return false;
  }

  #goOn(): void {
    if (this.#over) return;
    const { outcome } = this.#machine;
    if (outcome !== null) {
      this.#over = true;
      this.#replies.end("result" in outcome ? outcome.result : failureResult(outcome.failure.failure));
      return;
    }
    for (const step of [...this.#machine.steps.values()]) {
      if (this.#over) return;
      this.#tryStep(step);
    }
    for (const id of this.#steps.keys()) if (!this.#machine.steps.has(id)) this.#steps.delete(id);
    this.#image();
    this.#rest();
  }

  #tryStep(step: StepProgress): void {
    if (this.#steps.has(step.id)) return;
    const { atMostOnce } = step.node;
    if (step.unknown) {
      this.#over = true;
      const failure = new UnknownEffectError(`whether ${step.node.name} happened is not known`).toFailure();
      this.#replies.error({ failure, behavior: "pause", command: step.id });
      return;
    }
    if (atMostOnce && !this.#machine.isDurable(step.id)) return; // Its intent first has to be durable.
    if (step.retryAt > this.#ports.now()) {
      this.#steps.set(step.id, "waiting");
      this.#ports.wakeAt(step.retryAt, () => {
        if (this.#over || this.#steps.get(step.id) !== "waiting") return;
        this.#steps.delete(step.id);
        this.#goOn();
      });
      return;
    }
    this.#execute(step);
  }

  #execute(step: StepProgress): void {
    this.#steps.set(step.id, "running");
    this.#ports.executed(this.#start, step.id);
    const outcome = this.#ports.effects.execute(this.#start.run, this.#start.generation, step.id, step.node);
    const tookMs = this.#ports.random.int(0, this.#ports.settings.stepMsMax);
    for (let i = 0; i < step.node.writes; i += 1) this.#writeLater(step, i, tookMs);
    this.#ports.after(tookMs, () => {
      if (this.#over) return;
      if (outcome.kind === "failed") this.#stepFailed(step, step.node);
      else this.#propose(step, outcome.result);
      this.#goOn();
    });
  }

  #writeLater({ id, tries }: StepProgress, number: number, tookMs: number): void {
    const items = [JSON.stringify(`live ${this.#start.run.slice(-6)} ${id} ${tries} ${number}`)];
    this.#ports.after(this.#ports.random.int(0, tookMs), () => {
      if (!this.#over && this.#steps.get(id) === "running") this.#replies.append(STREAM, items, `${id}.${tries + 1}`);
    });
  }

  #propose(step: StepProgress, result: Parameters<AttemptReplies["propose"]>[1]): void {
    this.#steps.set(step.id, "proposed");
    this.#replies.propose(step.id, result);
    const { random, settings } = this.#ports;
    if (!random.chance(settings.stutters)) return;
    // A late answer of a try that had been given up: the first result is the only one (E2).
    const late = valueResult(JSON.stringify(`late ${random.int(0, 999_999)}`));
    this.#ports.after(random.int(0, 20), () => {
      if (!this.#over) this.#replies.propose(step.id, late);
    });
  }

  #stepFailed(step: StepProgress, node: StepNode): void {
    step.tries += 1;
    const failure = { code: 503, message: `${node.name} failed` };
    const isLast = step.tries >= 2;
    if (node.atMostOnce || (isLast && node.exhausted === "throw")) {
      this.#propose(step, failureResult({ ...failure, errorCode: "P0004" }));
    } else if (isLast && node.exhausted === "pause") {
      this.#over = true;
      this.#replies.error({ failure: { ...failure, errorCode: "P0010" }, behavior: "pause", command: step.id });
    } else {
      step.retryAt = this.#ports.now() + this.#ports.random.int(1, 400);
      this.#steps.delete(step.id);
      this.#replies.retrying(step.id, step.tries, failure, step.retryAt);
    }
  }

  /** All that the code waits for has to come from outside. */
  #isBlocked(): boolean {
    if (this.#inbox.length > 0 || this.#machine.outcome !== null) return false;
    for (const state of this.#steps.values()) if (state !== "waiting") return false;
    return (
      this.#machine.waits().every((wait) => wait.on !== "entry") &&
      [...this.#machine.steps.keys()].every((id) => this.#steps.has(id))
    );
  }

  #awaits(): readonly Awaiting[] {
    return this.#machine.waits().flatMap((wait): Awaiting[] => {
      if (wait.on === "signal") return [{ kind: "signal", signal: wait.signal }];
      if (wait.on !== "command") return [];
      const step = this.#machine.steps.get(wait.id);
      return step === undefined ? [{ kind: "completion", id: wait.id }] : [{ kind: "time", at: step.retryAt }];
    });
  }

  #rest(): void {
    if (this.#over || !this.#isBlocked()) return;
    if (this.#yielding || this.#policy === "eager") return this.#suspend();
    if (this.#policy === "never") return;
    const rest = ++this.#rests;
    this.#ports.after(this.#ports.random.int(1, 100), () => {
      if (!this.#over && rest === this.#rests && this.#isBlocked()) this.#suspend();
    });
  }

  #suspend(): void {
    const awaiting = this.#awaits();
    if (awaiting.length === 0) return; // Only a step that outlived its code is left to wait for.
    this.#over = true;
    this.#replies.suspend(awaiting, this.#machine.seen);
  }
}
