// Light, dark, or as the system: an attribute of the page, which the styles go by.

import { createSignal, type Signal } from "../api/signal.ts";

export type Theme = "system" | "light" | "dark";

const STORED_AS = "perdure.theme";

function stored(): Theme {
  const text = localStorage.getItem(STORED_AS);
  return text === "light" || text === "dark" ? text : "system";
}

export const theme: Signal<Theme> = createSignal<Theme>(stored());

export function chooseTheme(chosen: Theme): void {
  localStorage.setItem(STORED_AS, chosen);
  theme.set(chosen);
}

/** Keeps the page's attribute in step; called once. */
export function applyTheme(root: HTMLElement): void {
  const apply = (): void => {
    if (theme.get() === "system") delete root.dataset["theme"];
    else root.dataset["theme"] = theme.get();
  };
  apply();
  theme.subscribe(apply);
}

export function toggleTheme(): void {
  const isDark =
    theme.get() === "dark" || (theme.get() === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  chooseTheme(isDark ? "light" : "dark");
}
