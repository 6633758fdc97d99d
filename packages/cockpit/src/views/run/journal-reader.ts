// A run's journal: read page by page, then followed
// =================================================
//   loading ─▶ following ◀─▶ catching up (entries were missed, or it was cut)
//
// J1. Entries stand here without a gap, from the first one on: what comes too early is left, and read in its turn.
// J2. A restart cuts the journal: what stood at and after the cut is gone from here before anything new is added.
// J3. One request at a time, and none after `stop`.

import type { ApiEvent, EntryView, JournalPage, RunId } from "@perdure/protocol";
import { path, type ApiClient } from "../../api/client.ts";

export interface JournalState {
  readonly entries: readonly EntryView[];
  readonly isLoading: boolean;
  readonly error: Error | null;
}

const PAGE = 1_000;
/** Enough to name an entry in a row; the whole of it is read when somebody looks at it. */
const PAYLOAD_BYTES_MAX = 1_024;

export class JournalReader {
  readonly #api: Pick<ApiClient, "get">;
  readonly #run: RunId;
  readonly #listeners = new Set<() => void>();
  readonly #stop = new AbortController();
  #state: JournalState = { entries: [], isLoading: true, error: null };
  #isReading = false;
  /** Something happened that the present request may not have seen. */
  #isStale = false;

  constructor(api: Pick<ApiClient, "get">, run: RunId) {
    this.#api = api;
    this.#run = run;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly state = (): JournalState => this.#state;

  stop(): void {
    this.#stop.abort();
  }

  /** What the events of a frame tell of this run. */
  take(events: readonly ApiEvent[]): void {
    let entries: EntryView[] | null = null;
    const own = (): EntryView[] => (entries ??= [...this.#state.entries]);
    for (const event of events) {
      if (event.type === "reset") this.#catchUp(1);
      if (event.type === "truncated" && event.runId === this.#run) {
        own().splice(event.from - 1);
        this.#isStale = true;
      }
      if (event.type !== "entry" || event.runId !== this.#run) continue;
      const next = (entries ?? this.#state.entries).length + 1;
      if (event.entry.index === next) own().push(event.entry);
      else if (event.entry.index > next) this.#isStale = true; // J1
    }
    if (entries !== null) this.#set({ entries });
    if (this.#isStale && !this.#isReading) void this.read();
  }

  /** Everything from what is known on. */
  async read(): Promise<void> {
    if (this.#isReading || this.#stop.signal.aborted) return;
    this.#isReading = true;
    try {
      do {
        this.#isStale = false;
        await this.#readToEnd();
      } while (this.#isStale);
      this.#set({ isLoading: false, error: null });
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#set({ isLoading: false, error: error as Error });
    } finally {
      this.#isReading = false;
    }
  }

  /** Everything anew from an entry on. */
  #catchUp(from: number): void {
    this.#set({ entries: this.#state.entries.slice(0, from - 1) });
    this.#isStale = true;
  }

  async #readToEnd(): Promise<void> {
    for (let isOver = false; !isOver; ) {
      const after = this.#state.entries.length;
      const query = { after, limit: PAGE, maxPayload: PAYLOAD_BYTES_MAX };
      const page = await this.#api.get<JournalPage>(path`/runs/${this.#run}/journal`, {
        query,
        signal: this.#stop.signal,
      });
      isOver = page.nextAfter === null;
      // J1, J2. Meanwhile events may have added entries, or cut some.
      const entries = [...this.#state.entries];
      if (entries.length < after) {
        this.#isStale = true;
        return;
      }
      for (const entry of page.entries) if (entry.index === entries.length + 1) entries.push(entry);
      this.#set({ entries });
    }
  }

  #set(change: Partial<JournalState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}
