"use host";
// What a model and the web would have said, without either: English of a fixed chance, so that texts compress as texts do.
// And what the benchmarks want to hear of a run.

import { setTimeout as sleep } from "node:timers/promises";

const WORDS =
  "the of and a to in is that for it as was with be by on not he this are or his from at which but have an had they you were their one all we can her has there been if more when will would who so no out up into about than its time only could new these two may first then do any like my now over such our man me even most made after also did many off before must well back through years where much your way down should because each just those people how too little state good very make world still see own work long get here between both life being under never day same another know while last might us great old year come since against go came right used take three".split(
    " ",
  );

/** At least that many characters, always the same for the same seed. */
export function prose(seed: number, characters: number): string {
  let state = (seed * 2_654_435_761 + 12_345) >>> 0;
  let text = "";
  while (text.length < characters) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    text += `${WORDS[(state >>> 8) % WORDS.length]} `;
  }
  return text.trimEnd();
}

export async function askModel(
  topic: string,
  turn: number,
  pauseMs: number,
): Promise<{ readonly text: string; readonly page: string }> {
  if (pauseMs > 0) await sleep(pauseMs);
  return { text: prose(topic.length + turn, 400), page: `https://example.org/${turn}` };
}

export function readPage(url: string): string {
  return prose(url.length * 31 + url.charCodeAt(url.length - 1), 400);
}

let onSeen = (_atMs: number): void => undefined;

/** A run has seen what it was waiting for. */
export function seen(): void {
  onSeen(performance.now());
}

/** When the next run says so, by `performance.now()`. */
export function nextSeen(): Promise<number> {
  return new Promise((resolve) => {
    onSeen = resolve;
  });
}
