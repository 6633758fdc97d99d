// One request to one model, from sending to the last part of its answer
// =====================================================================
//
//   sent ──▶ answering ──▶ settled                     the stream finished by its own word
//     │          ├───────▶ interrupted, aborted        from outside
//     └──────────┴───────▶ failed                      an error, an error part, a cut, a silence
//
// G1. Whatever ends it, the request is aborted and its stream is given up: nothing goes on behind the caller's back.
// G2. A stream that ends without a finish part, or whose finish says "interrupted", is cut: it is no answer.
// G3. Each part is seen once, in order, and none after the end.

import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { Assembly, partsOf, streamOf } from "./assembly.ts";
import type { Halt } from "./halt.ts";
import type { ModelErrorKind } from "./model-error.ts";
import { ModelError } from "./model-error.ts";
import type { GatewayPorts, ModelTimeouts } from "./types.ts";

export interface GenerationRequest {
  readonly ports: GatewayPorts;
  readonly model: LanguageModelV4;
  readonly options: Omit<LanguageModelV4CallOptions, "abortSignal">;
  readonly timeouts: ModelTimeouts;
  readonly halt: Halt;
  readonly onPart: (part: LanguageModelV4StreamPart) => void;
}

export type GenerationEnd =
  | { readonly kind: "settled" | "interrupted" | "aborted" }
  | { readonly kind: "failed"; readonly error: unknown };

/** After its finish part a stream has nothing more to say; one that does not close is not waited for. */
const CLOSE_MS = 5_000;

export class Generation {
  readonly assembly: Assembly = new Assembly();
  firstPartAt: number | undefined;
  readonly #request: GenerationRequest;
  readonly #controller: AbortController = new AbortController();
  readonly #ended: PromiseWithResolvers<void> = Promise.withResolvers<void>();
  #end: GenerationEnd | undefined;
  #reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart> | undefined;
  #cancelSilence: (() => void) | undefined;

  constructor(request: GenerationRequest) {
    this.#request = request;
  }

  /** Rejects only with what `onPart` threw. */
  async run(): Promise<GenerationEnd> {
    const { halt, timeouts } = this.#request;
    const { totalMs } = timeouts;
    const stopListening = halt.listen(() => this.#halted());
    const cancelTotal =
      totalMs === undefined ? undefined : this.#timer("timeout-total", totalMs, "it took longer than");
    this.#watchSilence("timeout-first-token", timeouts.firstTokenMs, "it sent nothing for");
    try {
      // A model that does not listen to its signal would never come back: the end is what is waited for.
      const reading = this.#end === undefined ? this.#read() : Promise.resolve();
      await Promise.race([reading, this.#ended.promise]);
      return this.#end ?? { kind: "failed", error: new Error("the generation ended without an end") };
    } finally {
      this.#finish({ kind: "aborted" }); // Only where `onPart` threw.
      stopListening();
      cancelTotal?.();
      this.#cancelSilence?.();
    }
  }

  async #read(): Promise<void> {
    try {
      const { stream } = await this.#send();
      const reader = stream.getReader();
      this.#reader = reader;
      if (this.#end !== undefined) this.#giveUp();
      for (let next = await reader.read(); !next.done && this.#end === undefined; next = await reader.read())
        this.#see(next.value);
      this.#closed();
    } catch (error) {
      if (error instanceof ListenerError) throw error.cause;
      this.#finish({ kind: "failed", error });
    }
  }

  async #send(): Promise<{ stream: ReadableStream<LanguageModelV4StreamPart> }> {
    const { model, options } = this.#request;
    const withSignal = { ...options, abortSignal: this.#controller.signal };
    try {
      return await model.doStream(withSignal);
    } catch (error) {
      if (!isUnsupported(error)) throw error;
      return { stream: streamOf(partsOf(await model.doGenerate(withSignal))) };
    }
  }

  #see(part: LanguageModelV4StreamPart): void {
    const { ports, timeouts, onPart } = this.#request;
    this.assembly.add(part);
    if (this.assembly.hasOutput) {
      this.firstPartAt ??= ports.now();
      this.#watchSilence("timeout-between-tokens", timeouts.betweenTokensMs, "it fell silent for");
    }
    if (part.type === "error") this.#finish({ kind: "failed", error: part.error });
    if (part.type === "finish") this.#watchClose();
    try {
      onPart(part);
    } catch (error) {
      throw new ListenerError("onPart threw", { cause: error });
    }
  }

  #halted(): void {
    const kind = this.#request.halt.kind ?? "aborted";
    // Interrupted after its last word: there is nothing left to interrupt.
    if (kind === "interrupted" && this.assembly.finishReason !== undefined) this.#closed();
    else this.#finish({ kind });
  }

  /** The stream has no more parts. */
  #closed(): void {
    const reason = this.assembly.finishReason;
    if (reason === undefined || reason.unified === "interrupted") {
      this.#finish({ kind: "failed", error: this.#error("cut-stream", "the answer broke off before its end") });
    } else if (reason.unified === "error") {
      this.#finish({ kind: "failed", error: this.#error("server", "it gave up in the middle of the answer") });
    } else this.#finish({ kind: "settled" });
  }

  #watchSilence(kind: ModelErrorKind, ms: number | undefined, words: string): void {
    this.#cancelSilence?.();
    this.#cancelSilence = ms === undefined || this.#end !== undefined ? undefined : this.#timer(kind, ms, words);
  }

  #watchClose(): void {
    this.#cancelSilence?.();
    this.#cancelSilence = this.#request.ports.delay(CLOSE_MS, () => {
      this.#closed();
      this.#giveUp();
    });
  }

  #timer(kind: ModelErrorKind, ms: number, words: string): () => void {
    const late = () => this.#finish({ kind: "failed", error: this.#error(kind, `${words} ${ms} ms`) });
    return this.#request.ports.delay(ms, late);
  }

  #error(kind: ModelErrorKind, words: string): ModelError {
    const { provider, modelId } = this.#request.model;
    return new ModelError(`${provider}/${modelId}: ${words}`, { kind, provider, modelId });
  }

  /** The first end counts. */
  #finish(end: GenerationEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#cancelSilence?.();
    this.#ended.resolve();
    if (end.kind !== "settled") this.#giveUp();
  }

  /** G1. */
  #giveUp(): void {
    this.#controller.abort();
    this.#reader?.cancel().catch(() => undefined); // It may have failed already, which is known.
  }
}

/** What the caller's listener threw: not the model's fault, and not to be tried again. */
class ListenerError extends Error {
  override readonly name = "ListenerError";
}

function isUnsupported(error: unknown): boolean {
  return error instanceof Error && error.name === "AI_UnsupportedFunctionalityError";
}
