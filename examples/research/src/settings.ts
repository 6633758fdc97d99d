// Settings, from the environment
// ===============================
//   OPENAI_API_KEY    a language model answers instead of the extractive one; also OPENAI_BASE_URL, RESEARCH_MODEL
//   RESEARCH_CORPUS   folders to search, separated as in PATH; default: this project's own documents
//   RESEARCH_INJECT   failures to inject, see inject.ts
//   RESEARCH_PACE     how long the extractive model takes for an answer; default 1s, 0 for no time at all
//   RESEARCH_DATA     where reports, the ledger and the crash marker go; default .perdure/research
//   RESEARCH_LEDGER   the ledger's file; default ledger.jsonl in there

import { existsSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export interface ModelSettings {
  /** Absent: the extractive model. */
  readonly apiKey: string | undefined;
  readonly baseURL: string;
  readonly name: string;
  /** Of the extractive model. */
  readonly paceMs: number;
}

export interface Settings {
  /** The folder whose documents are searched by default. */
  readonly project: string;
  /** Folders that may be searched instead, the first of them by default. */
  readonly corpora: readonly string[];
  readonly data: string;
  readonly ledger: string;
  /** Written as `tool-errors=0.3,crash-after=5`. */
  readonly inject: string;
  readonly model: ModelSettings;
}

type Environment = Readonly<Record<string, string | undefined>>;

export function readSettings(env: Environment): Settings {
  const project = projectFolder();
  const data = resolve(project, env["RESEARCH_DATA"] ?? join(".perdure", "research"));
  return {
    project,
    corpora: (env["RESEARCH_CORPUS"] ?? "")
      .split(delimiter)
      .filter(Boolean)
      .map((folder) => resolve(folder)),
    data,
    ledger: resolve(project, env["RESEARCH_LEDGER"] ?? join(data, "ledger.jsonl")),
    inject: env["RESEARCH_INJECT"] ?? "",
    model: {
      apiKey: env["OPENAI_API_KEY"] === "" ? undefined : env["OPENAI_API_KEY"],
      baseURL: env["OPENAI_BASE_URL"] || "https://api.openai.com/v1",
      name: env["RESEARCH_MODEL"] ?? "gpt-5-mini",
      paceMs: milliseconds(env["RESEARCH_PACE"] ?? "1s"),
    },
  };
}

/** A few lines for people, said at the start. */
export function describeSettings({ corpora, model, ledger, inject }: Settings, label: string, pid: number): string {
  const where = corpora.length === 0 ? "this project's documents and those of its packages" : corpora.join(", ");
  const why = model.apiKey === undefined ? " (OPENAI_API_KEY names one)" : "";
  return [
    `research: searches ${where}`,
    `research: ${label}${why}`,
    `research: effects are noted in ${ledger}${inject === "" ? "" : `; injecting ${inject}`}`,
    `research: this is process ${pid}; kill -9 ${pid} whenever you like`,
  ].join("\n");
}

/** The nearest folder around this file that has installed dependencies: the repository, or wherever this was copied. */
function projectFolder(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  for (let folder = here; folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, "node_modules", "perdure"))) return folder;
  }
  return process.cwd();
}

/** `250`, `250ms` or `1.5s`. */
function milliseconds(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s)?$/.exec(text.trim());
  if (match === null) throw new Error(`"${text}" is no duration: write 250ms or 1.5s`);
  return Number(match[1]) * (match[2] === "s" ? 1_000 : 1);
}
