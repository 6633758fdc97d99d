// Peer
// ====
// A system under load. All of them keep one contract, so that the same load fits every one:
//
//   POST <url> with {"n": k}  runs ten dependent durable steps, each adding one, and answers the JSON number k + 10.
//
// The answer is sent only after the run's result is durable (fsync on everywhere).

export interface Peer {
  readonly name: string;
  /** Why it cannot be measured on this machine; it is then left out, with this reason, unless it was asked for. */
  readonly missing?: string;
  start(): Promise<Target>;
}

export interface Target {
  readonly url: string;
  /**
   * Stops and continues whatever a system does while nobody calls it (polling), so that systems measured in turn do
   * not take each other's processor. Absent where the idle system costs nothing worth mentioning.
   */
  pause?(): void;
  resume?(): void;
  stop(): Promise<void>;
}
