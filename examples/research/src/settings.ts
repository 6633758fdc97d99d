// Settings, from the environment
// ===============================
//   RESEARCH_MODEL    provider/model: openai/… or anthropic/…; default by the key that is there, else the extractive model
//   OPENAI_API_KEY, ANTHROPIC_API_KEY   a language model answers; OPENAI_BASE_URL names another endpoint that speaks its API
//   RESEARCH_CORPUS   the folder to search; default: this project's own documents
//   RESEARCH_TOKENS   what a session with its sub-agents may use before a person is asked; default 300000
//   RESEARCH_MEMORY   journal (the default) or snapshot: how the agents' turns are remembered
//   RESEARCH_INJECT   failures to inject, see inject.ts
//   RESEARCH_PACE     how long the extractive model takes for an answer; default 1s, 0 for no time at all
//   RESEARCH_DATA     where reports, the ledger and the crash marker go; default .perdure/research
//   RESEARCH_LEDGER   the ledger's file; default ledger.jsonl in there

import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export type ModelSettings =
  | { readonly provider: "extractive"; readonly paceMs: number }
  | {
      readonly provider: "openai";
      readonly name: string;
      readonly apiKey: string;
      readonly baseURL: string | undefined;
    }
  | { readonly provider: "anthropic"; readonly name: string; readonly apiKey: string };

export interface Settings {
  /** The folder whose documents are searched by default. */
  readonly project: string;
  /** Undefined: the project's own. */
  readonly corpus: string | undefined;
  readonly data: string;
  readonly ledger: string;
  readonly budgetTokens: number;
  readonly memory: "journal" | "snapshot";
  /** Written as `tool-errors=0.3,crash-after=5`. */
  readonly inject: string;
  readonly model: ModelSettings;
}

type Environment = Readonly<Record<string, string | undefined>>;

const BUDGET_TOKENS = "300000";
const MODELS = { openai: "gpt-5-mini", anthropic: "claude-haiku-4-5" } as const;

/** @throws where the environment says what cannot be meant. */
export function readSettings(env: Environment): Settings {
  const project = projectFolder();
  const data = resolve(project, present(env["RESEARCH_DATA"]) ?? join(".perdure", "research"));
  const corpus = present(env["RESEARCH_CORPUS"]);
  return {
    project,
    corpus: corpus === undefined ? undefined : resolve(corpus),
    data,
    ledger: resolve(project, present(env["RESEARCH_LEDGER"]) ?? join(data, "ledger.jsonl")),
    budgetTokens: tokens(present(env["RESEARCH_TOKENS"]) ?? BUDGET_TOKENS),
    memory: memory(present(env["RESEARCH_MEMORY"]) ?? "journal"),
    inject: env["RESEARCH_INJECT"] ?? "",
    model: modelSettings(env),
  };
}

function modelSettings(env: Environment): ModelSettings {
  const keys = { openai: present(env["OPENAI_API_KEY"]), anthropic: present(env["ANTHROPIC_API_KEY"]) };
  const byKey = keys.openai !== undefined ? "openai" : keys.anthropic !== undefined ? "anthropic" : "extractive";
  const asked = present(env["RESEARCH_MODEL"]) ?? byKey;
  const [provider = "", ...rest] = asked.split("/");
  if (provider === "extractive") return { provider, paceMs: milliseconds(env["RESEARCH_PACE"] ?? "1s") };
  if (provider !== "openai" && provider !== "anthropic")
    throw new Error(
      `RESEARCH_MODEL=${asked}: write openai/${MODELS.openai}, anthropic/${MODELS.anthropic} or extractive`,
    );
  const apiKey = keys[provider];
  const name = rest.join("/") || MODELS[provider];
  if (apiKey === undefined)
    throw new Error(`RESEARCH_MODEL=${asked} needs the key of ${provider}: set ${provider.toUpperCase()}_API_KEY`);
  if (provider === "anthropic") return { provider, name, apiKey };
  return { provider, name, apiKey, baseURL: present(env["OPENAI_BASE_URL"]) };
}

const present = (text: string | undefined): string | undefined => (text === "" ? undefined : text);

function memory(text: string): Settings["memory"] {
  if (text === "journal" || text === "snapshot") return text;
  throw new Error(`RESEARCH_MEMORY=${text}: write journal or snapshot`);
}

/** A few lines for people, said at the start. */
export function describeSettings(
  { corpus, model, memory: kept, ledger, inject }: Settings,
  label: string,
  pid: number,
): string {
  const where = corpus ?? "this project's documents and those of its packages";
  const why = model.provider === "extractive" ? " (OPENAI_API_KEY or ANTHROPIC_API_KEY brings one)" : "";
  return [
    `research: searches ${where}`,
    `research: ${label}${why}`,
    ...(kept === "snapshot" ? ["research: the agents live in isolates, and their turns are imaged"] : []),
    `research: effects are noted in ${ledger}${inject === "" ? "" : `; injecting ${inject}`}`,
    `research: this is process ${pid}; kill -9 ${pid} whenever you like`,
    "research: talk to it from another terminal: npx perdure chat researcher --session demo",
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

function tokens(text: string): number {
  const count = Number(text);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new Error(`RESEARCH_TOKENS=${text}: write a whole number above 0`);
}
