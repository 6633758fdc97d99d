// All that a data directory holds, as lines: also of one that is damaged, as far as it can be read.
//
//   {"type": "header", …}  {"type": "run", "run": …}  {"type": "entry", "runId": …, "entry": …}
//   {"type": "state", "service", "key", "state"}  {"type": "promise", …}  {"type": "end", …}
//
// What cannot be read is skipped, counted, and named in the last line.

import { openSqliteStore } from "@perdure/host";
import type { Run, RunId } from "@perdure/protocol";
import { entryView, payloadView, runView } from "../server/views.ts";
import { VERSION } from "../version.ts";

export interface ExportSummary {
  readonly runs: number;
  readonly entries: number;
  readonly keys: number;
  readonly promises: number;
  readonly unreadable: readonly string[];
}

type Reader = Awaited<ReturnType<typeof openSqliteStore>>["reader"];
type Write = (line: object) => Promise<void>;

const RUNS_PAGE = 500;
const ENTRIES_PAGE = 1_000;
const KEYS_PAGE = 500;
const ROWS_PAGE = 5_000;
/** Runs in a row that cannot be read: behind them nothing is expected any more. */
const GAP_MAX = 10_000;
const UNREADABLE_SHOWN = 1_000;

/** @throws StoreDamagedError where there is nothing that can be opened. */
export async function exportData(directory: string, write: Write): Promise<ExportSummary> {
  const store = await openSqliteStore({ directory, readOnly: true });
  try {
    await write({ type: "header", format: 1, perdure: VERSION, exportedAt: new Date().toISOString() });
    const exporter = new Exporter(store.reader, write, store.damage);
    await exporter.runs();
    await exporter.state();
    await exporter.promises();
    const { summary } = exporter;
    await write({ type: "end", ...summary });
    return summary;
  } finally {
    await store.close();
  }
}

class Exporter {
  readonly #reader: Reader;
  readonly #write: Write;
  readonly #unreadable: string[];
  readonly #counts = { runs: 0, entries: 0, keys: 0, promises: 0 };

  constructor(reader: Reader, write: Write, damage: readonly string[]) {
    this.#unreadable = [...damage];
    this.#reader = reader;
    this.#write = write;
  }

  get summary(): ExportSummary {
    return { ...this.#counts, unreadable: this.#unreadable };
  }

  async runs(): Promise<void> {
    let cursor = -1;
    let gap = 0;
    let limit = RUNS_PAGE;
    for (;;) {
      let page: readonly Run[];
      try {
        page = await this.#reader.runs({ order: "oldest", cursor, limit });
      } catch (error) {
        // Closer and closer to the one that cannot be read, then past it.
        if (limit > 1) limit = Math.max(1, Math.floor(limit / 8));
        else {
          cursor += 1;
          gap += 1;
          if (gap === 1) this.#skip(`runs after number ${cursor - 1}`, error);
          if (gap > GAP_MAX) return;
        }
        continue;
      }
      gap = 0;
      for (const run of page) await this.#run(run);
      if (page.length < limit) return;
      cursor = page.at(-1)?.seq ?? cursor;
      limit = Math.min(RUNS_PAGE, limit * 2);
    }
  }

  async #run(run: Run): Promise<void> {
    this.#counts.runs += 1;
    await this.#write({ type: "run", run: runView(run, Number.POSITIVE_INFINITY) });
    await this.#attempt(`the journal of ${run.id}`, () => this.#journal(run.id));
  }

  async #journal(id: RunId): Promise<void> {
    for (let after = 0; ; ) {
      const page = await this.#reader.journal(id, after, ENTRIES_PAGE);
      for (const entry of page) {
        this.#counts.entries += 1;
        await this.#write({ type: "entry", runId: id, entry: entryView(id, entry, Number.POSITIVE_INFINITY) });
      }
      if (page.length < ENTRIES_PAGE) return;
      after = page.at(-1)?.index ?? after;
    }
  }

  async state(): Promise<void> {
    await this.#attempt("the state", async () => {
      const { rows } = await this.#reader.sql("SELECT DISTINCT service FROM state ORDER BY service", 10_000);
      for (const [service] of rows) await this.#stateOf(String(service));
    });
  }

  async #stateOf(service: string): Promise<void> {
    for (let after: string | null = null; ; ) {
      const keys: readonly string[] = await this.#reader.stateKeys(service, after, KEYS_PAGE);
      for (const key of keys) {
        await this.#attempt(`the state of ${service}/${key}`, async () => {
          const state = await this.#reader.state({ service, key });
          const view = stateView(state);
          this.#counts.keys += 1;
          await this.#write({ type: "state", service, key, state: view });
        });
      }
      if (keys.length < KEYS_PAGE) return;
      after = keys.at(-1) ?? after;
    }
  }

  async promises(): Promise<void> {
    await this.#attempt("the promises", async () => {
      for (let offset = 0; ; offset += ROWS_PAGE) {
        const query = `SELECT service, key, name, outcome, value FROM promises ORDER BY service, key, name LIMIT ${ROWS_PAGE} OFFSET ${offset}`;
        const { rows } = await this.#reader.sql(query, ROWS_PAGE);
        for (const [service, key, name, outcome, value] of rows) {
          this.#counts.promises += 1;
          await this.#write({ type: "promise", service, key, name, outcome, value });
        }
        if (rows.length < ROWS_PAGE) return;
      }
    });
  }

  async #attempt(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#skip(what, error);
    }
  }

  #skip(what: string, error: unknown): void {
    if (this.#unreadable.length < UNREADABLE_SHOWN)
      this.#unreadable.push(`${what}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function stateView(state: Awaited<ReturnType<Reader["state"]>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries([...state].map(([name, value]) => [name, payloadView(value, Number.POSITIVE_INFINITY)]));
}
