// Figures in Prometheus' text form, read.

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export type Metrics = ReadonlyMap<string, readonly Sample[]>;

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

export function parseMetrics(text: string): Metrics {
  const metrics = new Map<string, Sample[]>();
  for (const line of text.split("\n")) {
    const [, name, labels = "", value] = LINE.exec(line) ?? [];
    if (name === undefined) continue;
    const sample = { labels: parseLabels(labels), value: Number(value) };
    const known = metrics.get(name);
    if (known === undefined) metrics.set(name, [sample]);
    else known.push(sample);
  }
  return metrics;
}

function parseLabels(text: string): Readonly<Record<string, string>> {
  const pairs = [...text.matchAll(LABEL)].map(([, name = "", value = ""]) => [name, unescape(value)] as const);
  return Object.fromEntries(pairs);
}

function unescape(text: string): string {
  return text.replaceAll(/\\(.)/g, (_, character: string) => (character === "n" ? "\n" : character));
}

/** The value of the sample with these labels; undefined where there is none. */
export function metric(
  metrics: Metrics,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const wanted = Object.entries(labels);
  return metrics.get(name)?.find((sample) => wanted.every(([label, value]) => sample.labels[label] === value))?.value;
}
