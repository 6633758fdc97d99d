// GET /events: everything that changes, as server-sent events
// ===========================================================
//   opening ─▶ streaming ─▶ over (the reader went, was too slow, or the server drains)
//
// V1. Events of one reader come in the order of the change feed, each at most once.
// V2. Nothing is left out silently: changes that are gone are announced by `reset`, a reader that is too slow is told so
//     (`overflow`) and disconnected. What waits for it is bounded by `sseQueueMax` changes.
// V3. `id:` is the change's number; it comes back as Last-Event-ID. A reader gets one at once, so that it can also resume
//     when nothing had happened yet.
//
// The feed names the run of an entry or a moment by number only; names are kept here, and looked up where they are not known
// yet. A reader that waits for a lookup, or for its connection, lets its queue grow, never the order change.

import type { ServerResponse } from "node:http";
import type { Change, NumberedChange, Subscription } from "@perdure/host";
import { OverloadedError, type ApiEvent, type RunId } from "@perdure/protocol";
import type { ServedRuntime } from "./context.ts";
import { entryView, instantText, runSummary } from "./views.ts";

export interface EventFilter {
  readonly run?: RunId;
  readonly service?: string;
}

export interface EventStreamOptions {
  readonly heartbeatMs: number;
  readonly sseQueueMax: number;
}

interface ReaderOptions extends EventStreamOptions {
  readonly onEnd: () => void;
}

interface RunName {
  readonly seq: number;
  readonly id: RunId;
  readonly service: string;
}

/** Payloads in events are for looking at; the whole ones are read from the journal. */
const EVENT_PAYLOAD_BYTES_MAX = 16_384;
const READERS_MAX = 1_000;
const NAMES_KEPT = 20_000;
const RECONNECT_MS = 1_000;
/** How long a reader that was too slow may take to read that it was. */
const GOODBYE_MS = 5_000;

export class EventStreams {
  readonly #runtime: ServedRuntime;
  readonly #options: EventStreamOptions;
  readonly #readers = new Set<Reader>();

  constructor(runtime: ServedRuntime, options: EventStreamOptions) {
    this.#runtime = runtime;
    this.#options = options;
  }

  get readers(): number {
    return this.#readers.size;
  }

  /** @param after the id of the last event that was seen. @throws OverloadedError */
  open(res: ServerResponse, after: string | undefined, filter: EventFilter): void {
    if (this.#readers.size >= READERS_MAX)
      throw new OverloadedError(`${READERS_MAX} readers follow the events already`);
    const reader: Reader = new Reader(res, this.#runtime, this.#names, filter, {
      ...this.#options,
      onEnd: () => this.#readers.delete(reader),
    });
    this.#readers.add(reader);
    res.once("close", () => reader.end());
    reader.begin(after);
  }

  /** The server drains: readers come back to whoever serves next. */
  endAll(): void {
    for (const reader of this.#readers) reader.end();
  }

  readonly #names = new RunNames();
}

/** Which run has which number: the newest ones. */
class RunNames {
  readonly #bySeq = new Map<number, RunName>();
  readonly #byId = new Map<RunId, RunName>();

  learn(name: RunName): void {
    if (this.#bySeq.has(name.seq)) return;
    this.#bySeq.set(name.seq, name);
    this.#byId.set(name.id, name);
    if (this.#bySeq.size <= NAMES_KEPT) return;
    for (const oldest of this.#bySeq.values()) {
      this.#bySeq.delete(oldest.seq);
      this.#byId.delete(oldest.id);
      return;
    }
  }

  /** The run that a change is about; null where it is about none, undefined where its name is not known. */
  of(change: Change): RunName | null | undefined {
    switch (change.type) {
      case "run":
        this.learn({ seq: change.run.seq, id: change.run.id, service: change.run.service });
        return this.#bySeq.get(change.run.seq);
      case "entry":
      case "moment":
        return this.#bySeq.get(change.seq);
      case "promoted":
      case "deleted":
      case "truncated":
        return this.#byId.get(change.run);
      case "state":
      case "promise":
        return null;
    }
  }

  /** From the store. Null: the run is gone. */
  async find(runtime: ServedRuntime, change: Change): Promise<RunName | null> {
    if (change.type === "entry" || change.type === "moment") {
      const [run] = await runtime.reader.runs({ order: "oldest", cursor: change.seq - 1, limit: 1 });
      if (run === undefined || run.seq !== change.seq) return null;
      this.learn(run);
      return { seq: run.seq, id: run.id, service: run.service };
    }
    if (change.type !== "promoted" && change.type !== "deleted" && change.type !== "truncated") return null;
    const run = await runtime.reader.run(change.run);
    if (run !== null) this.learn({ seq: run.seq, id: run.id, service: run.service });
    return run;
  }
}

class Reader {
  readonly #res: ServerResponse;
  readonly #runtime: ServedRuntime;
  readonly #names: RunNames;
  readonly #filter: EventFilter;
  readonly #options: ReaderOptions;
  #subscription: Subscription | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  #queue: NumberedChange[] = [];
  #pumping = false;
  #over = false;

  constructor(
    res: ServerResponse,
    runtime: ServedRuntime,
    names: RunNames,
    filter: EventFilter,
    options: ReaderOptions,
  ) {
    this.#res = res;
    this.#runtime = runtime;
    this.#names = names;
    this.#filter = filter;
    this.#options = options;
  }

  begin(after: string | undefined): void {
    // The connection ends with the stream, whose end says more than the silence of an idle connection would.
    this.#res.writeHead(200, {
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      connection: "close",
      "x-accel-buffering": "no",
    });
    const missed: NumberedChange[] = [];
    let collect = (change: NumberedChange): void => void missed.push(change);
    this.#subscription = this.#runtime.changes.subscribe(after, (change) => collect(change));
    const { reset } = this.#subscription;
    const { last } = this.#runtime.changes;
    const seen = reset || after === undefined ? last : after;
    this.#res.write(`retry: ${RECONNECT_MS}\nid: ${seen}\n\n`);
    if (reset) this.#res.write(frame(last, { type: "reset", last }));
    collect = (change) => this.#push(change);
    // What was missed is in memory already, and bounded by the feed: only what comes on top of it counts as slow reading.
    this.#queue = missed;
    this.#heartbeat = setInterval(() => this.#res.write(": alive\n\n"), this.#options.heartbeatMs);
    this.#heartbeat.unref();
    this.#pump();
  }

  end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#subscription?.close();
    clearInterval(this.#heartbeat);
    this.#queue = [];
    if (!this.#res.writableEnded) this.#res.end();
    this.#options.onEnd();
  }

  #push(change: NumberedChange): void {
    if (this.#over) return;
    this.#queue.push(change);
    if (this.#queue.length > this.#options.sseQueueMax) this.#giveUp();
    else this.#pump();
  }

  /** V2. The reader may not read this either: then its connection is cut. */
  #giveUp(): void {
    const { socket } = this.#res;
    const message = `more than ${this.#options.sseQueueMax} changes wait for this reader: come back with the last id that was seen, or with a filter`;
    this.#res.write(frame(undefined, { type: "overflow", message }));
    this.end();
    setTimeout(() => socket?.destroy(), GOODBYE_MS).unref();
  }

  #pump(): void {
    if (this.#pumping || this.#over || this.#queue.length === 0) return;
    this.#pumping = true;
    this.#drain()
      .catch(() => this.#res.destroy()) // The store does not answer: the reader comes back and tries again.
      .finally(() => {
        this.#pumping = false;
        this.#pump();
      });
  }

  async #drain(): Promise<void> {
    let taken = 0;
    while (!this.#over && taken < this.#queue.length) {
      const numbered = this.#queue[taken];
      taken += 1;
      if (numbered === undefined) break;
      const known = this.#names.of(numbered.change);
      const name = known === undefined ? await this.#names.find(this.#runtime, numbered.change) : known;
      const event = this.#isWanted(numbered.change, name) ? eventOf(numbered.change, name) : null;
      if (this.#over) return;
      if (event === null) continue;
      if (!this.#res.write(frame(numbered.id, event))) {
        this.#queue.splice(0, taken);
        taken = 0;
        await drained(this.#res);
      }
    }
    if (!this.#over) this.#queue.splice(0, taken);
  }

  #isWanted(change: Change, name: RunName | null): boolean {
    const { run, service } = this.#filter;
    if (change.type === "state" || change.type === "promise")
      return run === undefined && (service === undefined || change.service === service);
    // The end of a run that nobody remembers is told to everybody who might have seen it.
    if (change.type === "deleted" && name === null) return run === undefined || change.run === run;
    return (run === undefined || name?.id === run) && (service === undefined || name?.service === service);
  }
}

function drained(res: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      res.off("drain", done);
      res.off("close", done);
      resolve();
    };
    res.on("drain", done);
    res.on("close", done);
  });
}

/** Null: an entry, or a moment, of a run that is gone. */
function eventOf(change: Change, name: RunName | null): ApiEvent | null {
  const at = instantText(change.at);
  switch (change.type) {
    case "run":
      return { type: "run", at, created: change.created, run: runSummary(change.run) };
    case "entry":
      return name === null
        ? null
        : { type: "entry", at, runId: name.id, entry: entryView(name.id, change.entry, EVENT_PAYLOAD_BYTES_MAX) };
    case "moment":
      return name === null ? null : { type: "moment", at, runId: name.id, entry: change.entry, name: change.name };
    case "promoted":
    case "deleted":
      return { type: change.type, at, runId: change.run };
    case "truncated":
      return { type: "truncated", at, runId: change.run, from: change.from };
    case "state":
    case "promise":
      return { ...change, at };
  }
}

function frame(id: string | undefined, event: ApiEvent): string {
  const { type, ...data } = event;
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}
