// Where an attempt stands in the journal of its run.
//
// First come the entries of the start (the past), then what arrives while it lives. The commands of the past can also be
// looked up by their id, since code asks for a command before the cursor gets to it.
//
// An attempt whose heap was put back from an image stands behind the entries of the image. Its past is what came after.

import type { CommandEntry, Entry } from "@perdure/protocol";

const NOTHING: readonly never[] = [];

export class JournalCursor {
  #past: readonly Entry[];
  #pastAt = 0;
  /** Commands of the past, by id - 1 - #before. */
  #recorded: readonly CommandEntry[];
  /** Commands that an image holds, or that the code began after. */
  #before: number;
  #arrived: Entry[] = [];
  #arrivedAt = 0;
  /** Highest index that the attempt was given. */
  seen: number;
  /** Index of the last entry that the code has met. */
  met = 0;

  /** @param before commands that the code does not meet: it began after them. */
  constructor(past: readonly Entry[], before: number) {
    this.#past = past;
    this.#before = before;
    this.#recorded = past.length === 0 ? NOTHING : past.filter((entry) => entry.kind === "command");
    this.seen = past.at(-1)?.index ?? 0;
  }

  /** The image at `entry`, which has asked for so many commands, was put back: `past` is what the journal has after it. */
  resume(past: readonly Entry[], { commands, entry }: { readonly commands: number; readonly entry: number }): void {
    this.#past = past;
    this.#pastAt = 0;
    this.#recorded = past.filter((entry) => entry.kind === "command");
    this.#before = commands;
    this.seen = past.at(-1)?.index ?? entry; // Own commands that it was not told of stand before.
  }

  /** There are entries of the start that were not met yet. */
  get replaying(): boolean {
    return this.#pastAt < this.#past.length;
  }

  /** Something arrived that was not delivered yet. */
  get behind(): boolean {
    return this.#arrivedAt < this.#arrived.length;
  }

  /** Commands that stood in the journal when the attempt began. */
  get recordedCount(): number {
    return this.#before + this.#recorded.length;
  }

  recorded(id: number): CommandEntry | undefined {
    return this.#recorded[id - 1 - this.#before];
  }

  /** The entry of the past that is met next. */
  get next(): Entry | undefined {
    return this.#past[this.#pastAt];
  }

  advance(): void {
    this.met = this.#past[this.#pastAt]?.index ?? this.met;
    this.#pastAt += 1;
  }

  arrive(entries: readonly Entry[]): void {
    this.#arrived.push(...entries);
    this.seen = entries.at(-1)?.index ?? this.seen;
  }

  /** The next of what arrived. */
  take(): Entry | undefined {
    if (this.#arrivedAt < this.#arrived.length) {
      const entry = this.#arrived[this.#arrivedAt++];
      this.met = entry?.index ?? this.met;
      return entry;
    }
    if (this.#arrivedAt > 0) {
      this.#arrived.length = 0;
      this.#arrivedAt = 0;
    }
    return undefined;
  }

  /** The past was met: it need not be held any longer. */
  forgetPast(): void {
    this.#past = NOTHING;
    this.#pastAt = 0;
    this.#recorded = NOTHING;
  }

  drop(): void {
    this.forgetPast();
    this.#arrived = [];
    this.#arrivedAt = 0;
  }
}
