// An attempt as the loop holds it, between the decision that launched it and its end.
//
//   loading ─▶ live ─▶ over
//
// While the journal is loaded, entries that commit meanwhile wait here; the ones that the load already saw are dropped by
// their index, so that the attempt gets each entry exactly once and in order (C2).

import {
  failureFrom,
  type Attempt,
  type AttemptFailure,
  type AttemptOrigin,
  type AttemptReplies,
  type Awaiting,
  type CapturedImage,
  type Command,
  type Entry,
  type Executor,
  type Failure,
  type ForkOrigin,
  type Instant,
  type Payload,
  type Result,
  type Run,
  type RunId,
} from "@perdure/protocol";
import type { Event } from "./events.ts";
import type { LoadedStart } from "./store.ts";

function originOf(fork: ForkOrigin | null): AttemptOrigin | null {
  return fork === null ? null : { run: fork.run, key: fork.key, until: fork.entry, origin: originOf(fork.origin) };
}

export class AttemptHandle implements AttemptReplies {
  readonly #id: RunId;
  readonly #token: number;
  readonly #sink: { enqueue(event: Event): void };
  #run: Run | null;
  #attempt: Attempt | null = null;
  #waiting: Entry[] | null = [];
  /** Index of the last entry that was given with the start, in the image or after it. */
  #given = 0;
  /** Index of the last entry that the attempt was told of. */
  #told = 0;
  #over = false;
  #yield = false;

  constructor(run: Run, token: number, sink: { enqueue(event: Event): void }) {
    this.#id = run.id;
    this.#token = token;
    this.#sink = sink;
    this.#run = run;
  }

  begin(executor: Executor, loaded: Pick<LoadedStart, "image" | "entries" | "state">): void {
    const run = this.#run;
    if (this.#over || run === null) return;
    this.#run = null; // Not needed any longer; a live attempt should be small.
    this.#given = loaded.entries.at(-1)?.index ?? loaded.image?.info.entry ?? 0;
    try {
      this.#attempt = executor.start(
        {
          run: run.id,
          service: run.service,
          handler: run.handler,
          key: run.key,
          mode: run.mode,
          input: run.input,
          headers: run.headers ?? {},
          idempotencyKey: (run.forkedFrom ?? run).idempotencyKey,
          generation: run.generation,
          createdAt: run.migrated?.at ?? (run.forkedFrom ?? run).createdAt,
          deployment: run.deployment,
          migrated: run.migrated,
          image: loaded.image,
          entries: loaded.entries,
          state: loaded.state,
          origin: originOf(run.forkedFrom),
          tries: run.retry?.tries ?? 0,
        },
        this,
      );
    } catch (error) {
      this.error({ failure: failureFrom(error), behavior: "retry" });
      return;
    }
    if (this.#over) this.#attempt = null; // It ended while it began.
    this.#told = this.#given;
    const late = this.#waiting ?? [];
    this.#waiting = null;
    for (const entry of late) this.notify(entry);
    if (this.#yield) this.yield();
  }

  /** An entry that the load already saw comes again when its commit is acted upon: it is passed over (C2). */
  notify(entry: Entry): void {
    if (this.#waiting !== null) this.#waiting.push(entry);
    else if (!this.#over && entry.index > this.#told) {
      this.#told = entry.index;
      this.#attempt?.notify([entry]);
    }
  }

  abort(reason: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#attempt?.abort(reason);
  }

  awaiting(): readonly Awaiting[] | null {
    return this.#over ? null : (this.#attempt?.awaiting() ?? null);
  }

  yield(): void {
    if (this.#attempt === null) this.#yield = true;
    else if (!this.#over) this.#attempt.yield();
  }

  command(id: number, command: Command, result?: Result, items?: readonly Payload[]): void {
    if (this.#over) return;
    const event: Event = { type: "command", run: this.#id, attempt: this.#token, id, command, result };
    this.#sink.enqueue(items === undefined ? event : { ...event, items });
  }

  append(stream: string, items: readonly Payload[], writer: string): void {
    if (!this.#over && items.length > 0)
      this.#sink.enqueue({ type: "append", run: this.#id, attempt: this.#token, stream, items, writer });
  }

  propose(id: number, result: Result): void {
    if (!this.#over) this.#sink.enqueue({ type: "propose", run: this.#id, attempt: this.#token, id, result });
  }

  retrying(id: number, tries: number, failure: Failure, retryAt: Instant): void {
    if (!this.#over)
      this.#sink.enqueue({ type: "retrying", run: this.#id, attempt: this.#token, id, tries, failure, retryAt });
  }

  end(result: Result): void {
    this.#last({ type: "end", run: this.#id, attempt: this.#token, result });
  }

  /** C4: what came with the start counts as seen; code in an image knows only of entries that it was told of. */
  suspend(awaiting: readonly Awaiting[], entriesSeen: number): void {
    const seen = Math.max(entriesSeen, this.#given);
    this.#last({ type: "suspend", run: this.#id, attempt: this.#token, awaiting, entriesSeen: seen });
  }

  error(failure: AttemptFailure): void {
    this.#last({ type: "error", run: this.#id, attempt: this.#token, failure });
  }

  image(image: CapturedImage): void {
    if (!this.#over) this.#sink.enqueue({ type: "image", run: this.#id, attempt: this.#token, image });
  }

  imageUnusable(failure: Failure): void {
    this.#last({ type: "imageUnusable", run: this.#id, attempt: this.#token, failure });
  }

  /** C1: nothing is said after the end. */
  #last(event: Event): void {
    if (this.#over) return;
    this.#over = true;
    this.#attempt = null;
    this.#sink.enqueue(event);
  }
}
