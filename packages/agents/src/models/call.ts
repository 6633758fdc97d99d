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

/** A request that is under way. */
interface Sent {
  readonly model: LanguageModelV4;
  readonly attempt: ModelAttempt;
  readonly generation: Generation;
  readonly queuedMs: number;
  readonly startedAt: number;
}

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
    const gate = this.#shared.gateOf(model);
    for (let tries = 1; ; tries += 1) {
      const outcome = await this.#try(model, gate);
      if (outcome === "shut") return this.#leftAlone(gate, model);
      if (!(outcome instanceof ModelError)) return outcome;
      if (outcome.retryable && gate.breaker.refusesForMs > 0) return this.#leftAlone(gate, model, outcome);
      const waitMs = this.#waitMs(outcome, tries);
      if (waitMs === undefined) return outcome;
      await this.#pause(waitMs);
    }
  }

  /** `shut`: by the breaker. */
  async #try(model: LanguageModelV4, gate: Gate): Promise<ModelAnswer | ModelError | "shut"> {
    const admission = await this.#queue(gate);
    if (admission === "halted") return this.#halted(model);
    if (admission === "shut") return "shut";
    const pass = gate.breaker.pass();
    if (pass !== undefined) return this.#send(model, admission, pass);
    admission.forgo();
    return "shut";
  }

  /** Until the next try; undefined where there is none. */
  #waitMs(error: ModelError, tries: number): number | undefined {
    const { retry, ports } = this.#shared;
    return error.retryable ? retry.waitMs(tries, error.retryAfter, ports) : undefined;
  }

  /** Waits for its turn. */
  async #queue(gate: Gate): Promise<Admission | "halted" | "shut"> {
    if (this.#halt.kind !== undefined) return "halted";
    if (gate.breaker.refusesForMs > 0) return "shut";
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
      return "halted";
    }
    return admission ?? "shut";
  }

  async #send(model: LanguageModelV4, admission: Admission, pass: Pass): Promise<ModelAnswer | ModelError> {
    const attempt = { number: this.#attempts.length + 1, provider: model.provider, modelId: model.modelId };
    const generation = this.#generation(model, attempt);
    const sent = { model, attempt, generation, queuedMs: admission.waitedMs, startedAt: this.#shared.ports.now() };
    let verdict: Verdict = "none";
    try {
      const end = await generation.run();
      const error = end.kind === "failed" ? this.#classified(sent, end.error) : undefined;
      verdict = verdictOn(end, error);
      this.#attempts.push(this.#record(sent, end, error));
      return this.#conclude(sent, end, error);
    } finally {
      pass(verdict);
      admission.settle(tokensOf(generation.assembly));
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

  #classified({ model, generation }: Sent, error: unknown): ModelError {
    const { provider, modelId } = model;
    const { hasOutput } = generation.assembly;
    return classify(error, { provider, modelId, now: this.#shared.ports.now(), hasOutput });
  }

  #conclude(sent: Sent, end: GenerationEnd, error: ModelError | undefined): ModelAnswer | ModelError {
    const { model, attempt, generation } = sent;
    const { assembly } = generation;
    if (end.kind === "aborted") throw this.#halt.reason;
    if (error === undefined || error.kind === "refused") {
      const kind = end.kind === "interrupted" ? "interrupted" : "settled";
      this.#request.onAttemptEnd?.(attempt, { kind });
      return this.#answer(model, assembly, finishOf(assembly, error), end.kind === "interrupted");
    }
    this.#request.onAttemptEnd?.(attempt, { kind: "failed", error, partialText: assembly.text });
    return error;
  }

  /** It was stopped before anything was sent. */
  #halted(model: LanguageModelV4): ModelAnswer {
    if (this.#halt.kind === "aborted") throw this.#halt.reason;
    const assembly = new Assembly();
    return this.#answer(model, assembly, finishOf(assembly, undefined), true);
  }

  /** @param said what it answered to this call, if it was asked at all. */
  #leftAlone({ breaker }: Gate, { provider, modelId }: LanguageModelV4, said?: ModelError): ModelError {
    const retryAfterMs = Math.max(1, breaker.refusesForMs, said?.retryAfter ?? 0);
    const what = said === undefined ? `${provider}/${modelId}: ` : `${said.message}; `;
    const message = `${what}too many of its last calls failed, so it is left alone for ${retryAfterMs} ms`;
    return new ModelError(message, { kind: breaker.lastFailure, provider, modelId, retryAfterMs, cause: said });
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

  #record(sent: Sent, end: GenerationEnd, error: ModelError | undefined): AttemptRecord {
    const { attempt, generation, queuedMs, startedAt } = sent;
    const { firstPartAt } = generation;
    return {
      ...attempt,
      startedAt,
      queuedMs,
      durationMs: this.#shared.ports.now() - startedAt,
      ...(firstPartAt === undefined ? {} : { firstTokenMs: firstPartAt - startedAt }),
      outcome: error?.kind ?? (end.kind === "settled" ? "settled" : "interrupted"),
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

/** Input and output, as far as the provider said; undefined where it did not. */
function tokensOf({ usage }: Assembly): number | undefined {
  const input = usage.inputTokens.total;
  return input === undefined ? undefined : input + (usage.outputTokens.total ?? 0);
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
