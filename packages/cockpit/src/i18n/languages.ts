// The languages, and which one the viewer reads. English is part of the page; the other is loaded when it is wanted.

import { createSignal, type Signal } from "../api/signal.ts";
import { en, type Messages } from "./messages.ts";

export type Language = "en" | "zh";

const STORED_AS = "perdure.language";

const loaded = new Map<Language, Messages>([["en", en]]);

export const language: Signal<Language> = createSignal<Language>("en");

/** Of a language that was chosen, so that it is there. */
export function messagesIn(chosen: Language): Messages {
  return loaded.get(chosen) ?? en;
}

/** Before the page is drawn, so that nobody sees it change. It stays English where the other cannot be loaded. */
export async function beginInPreferred(): Promise<void> {
  await show(preferred());
}

export async function chooseLanguage(chosen: Language): Promise<void> {
  localStorage.setItem(STORED_AS, chosen);
  await show(chosen);
}

function preferred(): Language {
  const stored = localStorage.getItem(STORED_AS);
  if (stored === "en" || stored === "zh") return stored;
  return navigator.languages.some((tag) => tag.startsWith("zh")) && !navigator.language.startsWith("en") ? "zh" : "en";
}

async function show(wanted: Language): Promise<void> {
  if (!loaded.has(wanted)) loaded.set(wanted, (await import("./zh/index.ts")).zh);
  language.set(wanted);
}
