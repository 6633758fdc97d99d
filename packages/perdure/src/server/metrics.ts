// GET /metrics: figures of the runtime, its store, the listeners and the process, in Prometheus' text form.

import { performance } from "node:perf_hooks";
import { RESTORE_MS_BOUNDS } from "@perdure/host";
import { RUN_STATUSES } from "@perdure/protocol";
import type { ServedRuntime, Traffic } from "./context.ts";

type ArtifactCounts = Awaited<ReturnType<ServedRuntime["artifactCounts"]>>;
type Kind = "gauge" | "counter";
type Labels = Readonly<Record<string, string>>;

class Exposition {
  readonly #lines: string[] = [];

  metric(name: string, kind: Kind, help: string, samples: readonly (readonly [number, Labels?])[]): void {
    this.#lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${kind}`);
    for (const [value, labels] of samples) this.#lines.push(`${name}${labelText(labels)} ${value}`);
  }

  /** @param counts by bound, the last one: above all of them. In the unit of `bounds`, as `sum` is. */
  histogram(
    name: string,
    help: string,
    bounds: readonly number[],
    { counts, sum }: { readonly counts: readonly number[]; readonly sum: number },
  ): void {
    let below = 0;
    this.#lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} histogram`);
    for (const [at, count] of counts.entries()) {
      below += count;
      this.#lines.push(`${name}_bucket${labelText({ le: String(bounds[at] ?? "+Inf") })} ${below}`);
    }
    this.#lines.push(`${name}_sum ${sum}`, `${name}_count ${below}`);
  }

  get text(): string {
    return `${this.#lines.join("\n")}\n`;
  }
}

function labelText(labels: Labels | undefined): string {
  if (labels === undefined) return "";
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`,
  );
  return `{${pairs.join(",")}}`;
}

export async function metricsText(
  runtime: ServedRuntime,
  version: string,
  traffic: readonly Traffic[],
  readers: number,
): Promise<string> {
  const [counts, stats, artifacts] = await Promise.all([
    runtime.reader.counts(),
    runtime.reader.stats(),
    runtime.artifactCounts(),
  ]);
  const { figures } = runtime;
  const out = new Exposition();
  out.metric("perdure_info", "gauge", "What runs here.", [
    [1, { version, node: process.version, deployment: runtime.catalog.version ?? "" }],
  ]);
  out.metric("perdure_up", "gauge", "1: questions are taken.", [[runtime.healthy && !runtime.draining ? 1 : 0]]);
  out.metric("perdure_start_time_seconds", "gauge", "When the runtime started, since the epoch.", [
    [runtime.startedAt / 1_000],
  ]);
  out.metric(
    "perdure_runs",
    "gauge",
    "Runs that are kept, by status.",
    RUN_STATUSES.map((status) => [counts[status] ?? 0, { status }] as const),
  );
  out.metric("perdure_attempts_live", "gauge", "Attempts in memory, executing or waiting.", [[figures.live]]);
  out.metric("perdure_runs_ready", "gauge", "Runs that wait for room to execute.", [[figures.ready]]);
  out.metric("perdure_events_waiting", "gauge", "Events that wait for the next batch.", [[figures.queued]]);
  out.metric("perdure_callers_waiting", "gauge", "Askers whose answer is not there yet.", [[figures.watchers]]);
  out.metric("perdure_batches_total", "counter", "Batches decided and committed.", [[figures.batches]]);
  out.metric("perdure_events_total", "counter", "Events decided.", [[figures.events]]);
  out.metric("perdure_mutations_total", "counter", "Mutations committed.", [[figures.mutations]]);
  out.metric("perdure_loop_failures_total", "counter", "Times that the loop failed and was replaced.", [
    [figures.failures],
  ]);
  isolateMetrics(out, runtime, artifacts);
  for (const [name, value] of Object.entries(stats)) {
    if (!Number.isFinite(value)) continue;
    out.metric(`perdure_store_${name.replaceAll(/[^A-Za-z0-9_]/g, "_")}`, "gauge", "A figure of the store.", [[value]]);
  }
  out.metric(
    "perdure_http_requests_total",
    "counter",
    "Requests, by listener.",
    traffic.map(({ listener, requests }) => [requests, { listener }] as const),
  );
  out.metric(
    "perdure_http_errors_total",
    "counter",
    "Answers with an error, by listener and code.",
    traffic.flatMap(({ listener, errors }) => [...errors].map(([code, total]) => [total, { listener, code }] as const)),
  );
  out.metric("perdure_event_streams", "gauge", "Readers of the event stream.", [[readers]]);
  processMetrics(out);
  return out.text;
}

function isolateMetrics(out: Exposition, { isolates, figures }: ServedRuntime, artifacts: ArtifactCounts): void {
  out.metric(
    "perdure_images_lost_total",
    "counter",
    "Images that were damaged or could not be read, and passed over.",
    [[figures.imagesLost]],
  );
  out.metric("perdure_bundles", "gauge", "Bundles that are stored: code of runs in isolates.", [[artifacts.bundle]]);
  out.metric("perdure_bases", "gauge", "Heaps that are stored, which images are differences to.", [[artifacts.base]]);
  if (isolates === null) return;
  out.metric("perdure_isolates_live", "gauge", "Isolates that hold memory.", [[isolates.live]]);
  out.metric("perdure_isolates_in_line", "gauge", "Attempts that wait for room in memory.", [[isolates.inLine]]);
  out.metric("perdure_isolates_bytes", "gauge", "Memory that isolates were admitted with.", [[isolates.bytes]]);
  out.metric("perdure_isolates_bytes_max", "gauge", "The most that they may have together.", [[isolates.bytesMax]]);
  out.metric("perdure_isolate_threads_lost_total", "counter", "Threads that died; their attempts were begun again.", [
    [isolates.threadsLost],
  ]);
  out.histogram(
    "perdure_isolate_restore_seconds",
    "From an image until its code had met what came after it.",
    RESTORE_MS_BOUNDS.map((ms) => ms / 1_000),
    { counts: isolates.restoresWithin, sum: isolates.restoreMs / 1_000 },
  );
  out.metric("perdure_images_captured_total", "counter", "Images that were taken.", [[isolates.images]]);
  out.metric("perdure_images_captured_bytes_total", "counter", "Bytes of images that were taken.", [
    [isolates.imageBytes],
  ]);
  out.metric("perdure_images_capture_seconds_total", "counter", "Time that taking images took, in their threads.", [
    [isolates.captureMs / 1_000],
  ]);
}

function processMetrics(out: Exposition): void {
  const cpu = process.cpuUsage();
  const memory = process.memoryUsage();
  out.metric("perdure_process_cpu_seconds_total", "counter", "Processor time of the process.", [
    [(cpu.user + cpu.system) / 1_000_000],
  ]);
  out.metric("perdure_process_resident_memory_bytes", "gauge", "Resident memory of the process.", [[memory.rss]]);
  out.metric("perdure_process_heap_used_bytes", "gauge", "Used heap of the process.", [[memory.heapUsed]]);
  out.metric(
    "perdure_process_event_loop_utilization",
    "gauge",
    "Share of the time that the event loop was busy, since the start.",
    [[performance.eventLoopUtilization().utilization]],
  );
}
