// The languages, and which one the viewer reads.

import { createSignal, type Signal } from "../api/signal.ts";
import { en, type Messages } from "./messages.ts";
import { agents } from "./zh/agents.ts";
import { approvals } from "./zh/approvals.ts";
import { branches } from "./zh/branches.ts";
import { common } from "./zh/common.ts";
import { form } from "./zh/form.ts";
import { overview } from "./zh/overview.ts";
import { run } from "./zh/run.ts";
import { runs } from "./zh/runs.ts";
import { schedules } from "./zh/schedules.ts";
import { services } from "./zh/services.ts";
import { sql } from "./zh/sql.ts";
import { state } from "./zh/state.ts";

import { session } from "./zh/session.ts";

const zh: Messages = {
  agents,
  approvals,
  branches,
  common,
  form,
  overview,
  run,
  runs,
  schedules,
  services,
  session,
  sql,
  state,
};

export const LANGUAGES: Readonly<Record<Language, Messages>> = { en, zh };

export type Language = "en" | "zh";

const STORED_AS = "perdure.language";

function preferred(): Language {
  const stored = localStorage.getItem(STORED_AS);
  if (stored === "en" || stored === "zh") return stored;
  return navigator.languages.some((tag) => tag.startsWith("zh")) && !navigator.language.startsWith("en") ? "zh" : "en";
}

export const language: Signal<Language> = createSignal<Language>(preferred());

export function chooseLanguage(chosen: Language): void {
  localStorage.setItem(STORED_AS, chosen);
  language.set(chosen);
}
