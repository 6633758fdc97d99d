// Streams, as handlers see them
// =============================
// An append-only log under a name. It belongs to the key of an object or workflow, so that all runs of the key share it, and
// in a service to the run. Items have offsets from 0.

/** What `ctx.stream(name)` gives. */
export interface Stream<T> {
  /** Journaled, and so appended exactly once. It waits for nothing. */
  append(...items: readonly T[]): void;
  /** The items from an offset on (default: all), as they are now; replays see the same ones. Bytes come as `{ base64 }`. */
  read(from?: number): Promise<T[]>;
  /** The offset that the next item gets. */
  length(): Promise<number>;
  /**
   * Drops the items before an offset. This run does not read them any more; for others they go when it has ended, since
   * until then it may be replayed. Runs of shared handlers may not trim.
   */
  trim(before: number): void;
}

/** What a step's `info.stream(name)` gives: for what cannot wait until the step has ended, such as tokens. */
export interface StreamWriter<T> {
  /**
   * Items of one tick travel together, and readers see them as soon as they are durable. They are not part of the replay: a
   * try that is repeated writes again, and readers tell the tries apart by their writer, `<command>.<try>`. What a try
   * writes after its end is not heard.
   */
  write(...items: readonly T[]): void;
}
