// Who answers: a server has no names for those who look at it, so whoever acts says theirs, and the browser remembers it.

import { createSignal, type Signal } from "../api/signal.ts";

const STORED_AS = "perdure.viewer";

export const viewerName: Signal<string> = createSignal(localStorage.getItem(STORED_AS) ?? "");

export function rememberViewer(name: string): void {
  localStorage.setItem(STORED_AS, name);
  viewerName.set(name);
}
