// The model gateway: what all model calls of a process go through
// ===============================================================
// It does what one process must agree on: who may call now (limits, lanes, fairness), who is left alone (breakers), which
// model is asked when another fails. What must outlive the process (long waits, the answer) is the step around a call.
//
// Providers are those of the AI SDK; nothing here speaks a provider's own protocol.

import type { LanguageModelV4 } from "@ai-sdk/provider";
import { DefinitionError } from "@perdure/protocol";
import { Breaker, type BreakerOptions, type BreakerState } from "./breaker.ts";
import { Call, type Gate, type Shared } from "./call.ts";
import { Limiter, type LimiterFigures, type LimitOptions } from "./limiter.ts";
import { checkOptions } from "./options.ts";
import { type PriceList, providerName } from "./prices.ts";
import { type RetryOptions, RetryPlan } from "./retry.ts";
import type { GatewayPorts, ModelAnswer, ModelRequest, ModelTimeouts } from "./types.ts";

export interface GatewayOptions {
  readonly ports: GatewayPorts;
  /**
   * By `provider/model`, else by the model's full provider (`openai.responses`), else by the provider's name (`openai`); the
   * first that is found applies, to all calls that find it together. Several accounts at one provider: give each a name
   * (`createOpenAI({ name: "team-a", … })`), which is the provider's name here.
   */
  readonly limits?: Readonly<Record<string, LimitOptions>>;
  /** One breaker per provider's name. */
  readonly breaker?: BreakerOptions;
  readonly retry?: RetryOptions;
  /** Where a request sets none. */
  readonly timeouts?: ModelTimeouts;
  /** Go before those of the registry. */
  readonly prices?: PriceList;
}

export interface GatewayFigures {
  /** By the name that the limit was found under; the provider's name where there is none. */
  readonly limits: Readonly<Record<string, LimiterFigures>>;
  readonly breakers: Readonly<Record<string, { readonly state: BreakerState; readonly refusesForMs: number }>>;
}

/** Models that reason are silent for minutes; only a provider that is dead is silent for longer. */
const DEFAULT_TIMEOUTS: ModelTimeouts = { firstTokenMs: 300_000, betweenTokensMs: 300_000 };

export class ModelGateway {
  readonly #ports: GatewayPorts;
  readonly #limits: Readonly<Record<string, LimitOptions>>;
  readonly #breakerOptions: BreakerOptions | undefined;
  readonly #limiters: Map<string, Limiter> = new Map();
  readonly #breakers: Map<string, Breaker> = new Map();
  readonly #shared: Shared;

  constructor(options: GatewayOptions) {
    checkOptions(options);
    this.#ports = options.ports;
    this.#limits = options.limits ?? {};
    this.#breakerOptions = options.breaker;
    this.#shared = {
      ports: options.ports,
      retry: new RetryPlan(options.retry),
      timeouts: { ...DEFAULT_TIMEOUTS, ...options.timeouts },
      prices: options.prices,
      gateOf: (model) => this.#gateOf(model),
    };
  }

  /**
   * Asks the first model, falls back on the others, and answers with what was said.
   *
   * @throws what `signal` was aborted with; a `ModelError` (P0070), which is retried; a `ContextLengthError` (P0071),
   *   `ModelAccessError` (P0072) or `ModelRequestError` (P0073), which are final.
   */
  async call(request: ModelRequest): Promise<ModelAnswer> {
    if (request.models.length === 0)
      throw new DefinitionError('a model call names no model: give it at least one, such as "openai/gpt-5"');
    return await new Call(this.#shared, request).run();
  }

  figures(): GatewayFigures {
    const limits = [...this.#limiters].map(([name, limiter]) => [name, limiter.figures()] as const);
    const breakers = [...this.#breakers].map(([name, breaker]) => {
      return [name, { state: breaker.state, refusesForMs: breaker.refusesForMs }] as const;
    });
    return { limits: Object.fromEntries(limits), breakers: Object.fromEntries(breakers) };
  }

  #gateOf(model: LanguageModelV4): Gate {
    const provider = providerName(model.provider);
    const limit = [`${provider}/${model.modelId}`, model.provider].find((name) => Object.hasOwn(this.#limits, name));
    return { limiter: this.#limiter(limit ?? provider), breaker: this.#breaker(provider) };
  }

  #limiter(name: string): Limiter {
    let limiter = this.#limiters.get(name);
    if (limiter === undefined) {
      limiter = new Limiter(this.#ports, this.#limits[name] ?? {});
      this.#limiters.set(name, limiter);
    }
    return limiter;
  }

  #breaker(name: string): Breaker {
    let breaker = this.#breakers.get(name);
    if (breaker === undefined) {
      breaker = new Breaker(() => this.#ports.now(), this.#breakerOptions);
      this.#breakers.set(name, breaker);
    }
    return breaker;
  }
}
