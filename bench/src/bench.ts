// Bench
// =====
// What every benchmark module shares: its options, its figures, its progress line and its table.
// A benchmark is a module `src/<name>.ts` that exports `run(options): Promise<Figures>`.

export interface BenchOptions {
  /** The careful form: longer windows, several rounds, medians. */
  readonly long: boolean;
  /** Systems to measure; all if undefined. */
  readonly only: readonly string[] | undefined;
}

/** Flat: `<system>.<case>.<metric>`. */
export type Figures = Record<string, number>;

export interface BenchModule {
  run(options: BenchOptions): Promise<Figures>;
}

/** Progress goes to stderr, always: stdout is for the result. */
export function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}

/** Three significant digits are more than a shared machine can promise. */
export function round(value: number): number {
  return Number(value.toPrecision(4));
}

/** One line per `<system>.<case>`, one column per metric. */
export function table(figures: Figures): string {
  const rows = new Map<string, Map<string, number>>();
  for (const [key, value] of Object.entries(figures)) {
    const cut = key.lastIndexOf(".");
    const row = rows.get(key.slice(0, cut)) ?? new Map<string, number>();
    rows.set(key.slice(0, cut), row.set(key.slice(cut + 1), value));
  }
  const metrics = [...new Set([...rows.values()].flatMap((row) => [...row.keys()]))];
  const label = Math.max(...[...rows.keys()].map((key) => key.length));
  const line = (name: string, cells: readonly string[]): string =>
    [name.padEnd(label), ...cells.map((cell) => cell.padStart(11))].join(" ");
  const body = [...rows].map(([name, row]) =>
    line(
      name,
      metrics.map((metric) => row.get(metric)?.toString() ?? ""),
    ),
  );
  return [line("", metrics), ...body].join("\n");
}
