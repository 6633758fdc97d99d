// One call of the gateway: its models, their tries, and what is answered
// =====================================================================
//
//   for each model:  queue ──▶ breaker ──▶ generation ──▶ answer
//                      ▲                       │ failed
//                      └── wait a little ◀─────┤ retryable, and soon
//                                              └──▶ the next model, or the error
//
// C1. What was admitted is settled or forgone, and what passed the breaker is reported, exactly once and whatever happens.
// C2. While it waits (in the queue, between tries), an abort or an interrupt is heard at once.
// C3. It rejects with the signal's reason, a `ModelError` that can be retried, or a terminal error; never with anything else
//     but what the caller's own listeners threw.
// C4. A refusal is an answer: no other try is made, no other model asked.

import type { LanguageModelV4, LanguageModelV4FinishReason } from "@ai-sdk/provider";
import { Assembly } from "./assembly.ts";
import type { Breaker, Pass, Verdict } from "./breaker.ts";
import { classify } from "./classify.ts";
import { estimateTokens } from "./estimate.ts";
import { conclude, type FailedModel } from "./failure.ts";
import { Generation, type GenerationEnd } from "./generation.ts";
import { Halt } from "./halt.ts";
import type { Admission, Limiter, Ticket } from "./limiter.ts";
import { isIllness, ModelError } from "./model-error.ts";
import { costOf, type PriceList } from "./prices.ts";
import type { RetryPlan } from "./retry.ts";
import type { AttemptRecord, GatewayPorts, ModelAnswer, ModelAttempt, ModelRequest, ModelTimeouts } from "./types.ts";

/** What a process shares: the gateway, as its calls see it. */
export interface Shared {
  readonly ports: GatewayPorts;
  readonly retry: RetryPlan;
  readonly timeouts: ModelTimeouts;
  readonly prices: PriceList | undefined;
  gateOf(model: LanguageModelV4): Gate;
}

export interface Gate {
  readonly limiter: Limiter;
  readonly breaker: Breaker;
}

/** `waitMs`: the same model may be asked again after that. */
type Tried = { readonly answer: ModelAnswer } | { readonly error: ModelError; readonly waitMs: number | undefined };

export class Call {
  readonly #shared: Shared;
  readonly #request: ModelRequest;
  readonly #halt: Halt;
  readonly #attempts: AttemptRecord[] = [];

  constructor(shared: Shared, request: ModelRequest) {
    this.#shared = shared;
    this.#request = request;
    this.#halt = new Halt(request.signal, request.interrupt);
  }

  async run(): Promise<ModelAnswer> {
    const failed: FailedModel[] = [];
    for (const model of this.#request.models) {
      const outcome = await this.#ask(model);
      if (!(outcome instanceof ModelError)) return outcome;
      failed.push({ error: outcome, at: this.#shared.ports.now() });
    }
    throw conclude(failed, this.#shared.ports.now());
  }

  /** One model, until it answers or is not to be asked again. */
  async #ask(model: LanguageModelV4): Promise<ModelAnswer | ModelError> {
    for (let tries = 1; ; tries += 1) {
      const tried = await this.#try(model, tries);
      if ("answer" in tried) return tried.answer;
      if (tried.waitMs === undefined) return tried.error;
      await this.#pause(tried.waitMs);
    }
  }

  async #try(model: LanguageModelV4, tries: number): Promise<Tried> {
    const gate = this.#shared.gateOf(model);
    const admission = await this.#queue(gate, model);
    if (admission === undefined) return this.#halted(model);
    if (admission instanceof ModelError) return { error: admission, waitMs: undefined };
    const pass = gate.breaker.pass();
    if (pass === undefined) {
      admission.forgo();
      return { error: this.#closedGate(gate, model), waitMs: undefined };
    }
    return this.#send(model, tries, admission, pass);
  }

  /** Its turn; undefined where the call was halted meanwhile. */
  async #queue(gate: Gate, model: LanguageModelV4): Promise<Admission | ModelError | undefined> {
    if (this.#halt.kind !== undefined) return undefined;
    if (gate.breaker.closedForMs > 0) return this.#closedGate(gate, model);
    const { key, lane, estimatedTokens, options } = this.#request;
    const tokens = gate.limiter.countsTokens ? (estimatedTokens ?? estimateTokens(options)) : 0;
    const ticket = gate.limiter.enter({ lane, key, tokens });
    const stops = [
      this.#halt.listen(() => ticket.leave(undefined)),
      gate.breaker.onOpen(() => ticket.leave(undefined)), // Nobody waits in line for a closed door.
    ];
    const admission = await admitted(ticket);
    for (const stop of stops) stop();
    if (this.#halt.kind !== undefined) {
      admission?.forgo();
      return undefined;
    }
    return admission ?? this.#closedGate(gate, model);
  }

  async #send(model: LanguageModelV4, tries: number, admission: Admission, pass: Pass): Promise<Tried> {
    const { ports } = this.#shared;
    const startedAt = ports.now();
    const attempt = { number: this.#attempts.length + 1, provider: model.provider, modelId: model.modelId };
    const generation = this.#generation(model, attempt);
    let verdict: Verdict = "none";
    try {
      const end = await generation.run();
      const error = this.#errorOf(end, model, generation.assembly);
      verdict = verdictOn(end, error);
      const outcome = end.kind === "settled" ? "settled" : (error?.kind ?? "interrupted");
      this.#attempts.push(this.#record(attempt, startedAt, admission, generation, outcome, error));
      return this.#conclude(model, tries, attempt, generation.assembly, end, error);
    } finally {
      const { inputTokens, outputTokens } = generation.assembly.usage;
      const used = inputTokens.total === undefined ? undefined : inputTokens.total + (outputTokens.total ?? 0);
      pass(verdict);
      admission.settle(used);
    }
  }

  #generation(model: LanguageModelV4, attempt: ModelAttempt): Generation {
    const { ports, timeouts } = this.#shared;
    const { options, onPart, idempotencyKey } = this.#request;
    return new Generation({
      ports,
      model,
      options: { ...options, headers: { ...options.headers, "Idempotency-Key": idempotencyKey } },
      timeouts: { ...timeouts, ...this.#request.timeouts },
      halt: this.#halt,
      onPart: (part) => onPart?.(part, attempt),
    });
  }

  #errorOf(end: GenerationEnd, model: LanguageModelV4, { hasOutput }: Assembly): ModelError | undefined {
    if (end.kind !== "failed") return undefined;
    const { provider, modelId } = model;
    return classify(end.error, { provider, modelId, now: this.#shared.ports.now(), hasOutput });
  }

  #conclude(
    model: LanguageModelV4,
    tries: number,
    attempt: ModelAttempt,
    assembly: Assembly,
    end: GenerationEnd,
    error: ModelError | undefined,
  ): Tried {
    if (end.kind === "aborted") throw this.#halt.reason;
    if (error === undefined || error.kind === "refused") {
      this.#request.onAttemptEnd?.(attempt, { kind: "settled" });
      return { answer: this.#answer(model, assembly, finishOf(assembly, error), end.kind === "interrupted") };
    }
    this.#request.onAttemptEnd?.(attempt, { kind: "failed", error, partialText: assembly.text });
    const waitMs = error.retryable ? this.#shared.retry.waitMs(tries, error.retryAfter, this.#shared.ports) : undefined;
    return { error, waitMs };
  }

  /** It was stopped before anything was sent. */
  #halted(model: LanguageModelV4): Tried {
    if (this.#halt.kind === "aborted") throw this.#halt.reason;
    const assembly = new Assembly();
    return { answer: this.#answer(model, assembly, finishOf(assembly, undefined), true) };
  }

  #closedGate({ breaker }: Gate, { provider, modelId }: LanguageModelV4): ModelError {
    const retryAfterMs = Math.max(1, breaker.closedForMs);
    const message = `${provider}/${modelId}: too many of its last calls failed, so it is left alone for ${retryAfterMs} ms`;
    return new ModelError(message, { kind: breaker.lastFailure, provider, modelId, retryAfterMs });
  }

  /** Ends early when the call is halted; the next try finds out. */
  #pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.#shared.ports.delay(ms, resolve);
    const stop = this.#halt.listen(resolve);
    return promise.finally(() => {
      cancel();
      stop();
    });
  }

  #record(
    attempt: ModelAttempt,
    startedAt: number,
    admission: Admission,
    generation: Generation,
    outcome: AttemptRecord["outcome"],
    error: ModelError | undefined,
  ): AttemptRecord {
    const { firstPartAt } = generation;
    return {
      ...attempt,
      startedAt,
      queuedMs: admission.waitedMs,
      durationMs: this.#shared.ports.now() - startedAt,
      ...(firstPartAt === undefined ? {} : { firstTokenMs: firstPartAt - startedAt }),
      outcome,
      ...(error === undefined ? {} : { message: error.message }),
    };
  }

  #answer(
    model: LanguageModelV4,
    assembly: Assembly,
    finishReason: LanguageModelV4FinishReason,
    partial: boolean,
  ): ModelAnswer {
    const { provider, modelId } = model;
    const { usage, answeredBy, responseId, providerMetadata, warnings } = assembly;
    const now = this.#shared.ports.now();
    const answer: ModelAnswer = {
      content: assembly.content(),
      finishReason,
      usage,
      cost: costOf({ provider, modelId, answeredBy, usage, now }, this.#shared.prices),
      provider,
      modelId,
      ...(responseId === undefined ? {} : { responseId }),
      ...(providerMetadata === undefined ? {} : { providerMetadata }),
      warnings,
      partial,
      attempts: this.#attempts,
    };
    return JSON.parse(JSON.stringify(answer)) as ModelAnswer; // As a replay will read it: no `undefined`, no shared objects.
  }
}

async function admitted(ticket: Ticket): Promise<Admission | undefined> {
  try {
    return await ticket.admitted;
  } catch {
    return undefined; // It left the queue; why is known to whoever took it out.
  }
}

function verdictOn(end: GenerationEnd, error: ModelError | undefined): Verdict {
  if (error === undefined) return end.kind === "settled" ? "success" : "none";
  if (isIllness(error.kind)) return { failure: error.kind };
  return error.kind === "unknown" || error.kind === "rate-limited" ? "none" : "success";
}

function finishOf(assembly: Assembly, refusal: ModelError | undefined): LanguageModelV4FinishReason {
  if (refusal !== undefined) return { unified: "content-filter", raw: refusal.providerCode };
  return assembly.finishReason ?? { unified: "interrupted", raw: undefined };
}
