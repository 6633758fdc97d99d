// Which of some files changed
// ===========================
// Folders are watched rather than files, since editors replace files; what changed is then found by comparing times and
// sizes. Where the system gives no more watches the files are looked at twice a second instead.

import { existsSync, statSync, watch, type FSWatcher } from "node:fs";
import { dirname } from "node:path";

/** Saving several files, or one in several writes, is one change. */
const QUIET_MS = 80;
const POLL_MS = 500;

export class Watcher {
  readonly #changed: (files: readonly string[]) => void;
  readonly #signatures = new Map<string, string>();
  readonly #folders = new Map<string, FSWatcher>();
  #timer: NodeJS.Timeout | undefined;
  #poll: NodeJS.Timeout | undefined;

  constructor(changed: (files: readonly string[]) => void) {
    this.#changed = changed;
  }

  get count(): number {
    return this.#signatures.size;
  }

  add(file: string): void {
    if (this.#signatures.has(file)) return;
    this.#signatures.set(file, signatureOf(file));
    this.#watchFolder(dirname(file));
  }

  close(): void {
    clearTimeout(this.#timer);
    clearInterval(this.#poll);
    for (const folder of this.#folders.values()) folder.close();
  }

  #watchFolder(folder: string): void {
    if (this.#folders.has(folder) || !existsSync(folder)) return;
    try {
      const watcher = watch(folder, () => this.#look());
      watcher.on("error", () => this.#startPolling()); // The folder went, or the watch did.
      this.#folders.set(folder, watcher);
    } catch {
      this.#startPolling(); // ENOSPC, EMFILE: there are no more watches.
    }
  }

  #startPolling(): void {
    this.#poll ??= setInterval(() => this.#look(), POLL_MS);
  }

  #look(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#compare(), QUIET_MS);
  }

  #compare(): void {
    const changed: string[] = [];
    for (const [file, before] of this.#signatures) {
      const now = signatureOf(file);
      if (now === before) continue;
      this.#signatures.set(file, now);
      changed.push(file);
    }
    if (changed.length > 0) this.#changed(changed);
  }
}

function signatureOf(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats === undefined ? "absent" : `${stats.mtimeMs} ${stats.size} ${stats.ino}`;
}
