// What was used in the last minute
// ================================
// An exact sliding window of requests and their tokens. A request counts from its start for sixty seconds, with the tokens
// that were estimated then; what it really used replaces the estimate as soon as it is known. Every operation is constant
// in the long run: an entry is added once and expires once.

const WINDOW_MS = 60_000;
/** Expired entries are cut off the front of the list once there are that many of them. */
const CUT_AT = 1_024;

export interface Use {
  readonly at: number;
  tokens: number;
  /** 0 once it was taken back. */
  requests: 0 | 1;
  isExpired: boolean;
}

export class MinuteWindow {
  #uses: Use[] = [];
  #first = 0;
  #requests = 0;
  #tokens = 0;

  get requests(): number {
    return this.#requests;
  }

  get tokens(): number {
    return this.#tokens;
  }

  add(now: number, tokens: number): Use {
    const use: Use = { at: now, tokens, requests: 1, isExpired: false };
    this.#uses.push(use);
    this.#requests += 1;
    this.#tokens += tokens;
    return use;
  }

  /** The estimate was wrong. Of no account where the use has left the window already. */
  correct(use: Use, tokens: number): void {
    if (use.isExpired || use.requests === 0) return;
    this.#tokens += tokens - use.tokens;
    use.tokens = tokens;
  }

  /** It was never sent. */
  takeBack(use: Use): void {
    if (use.isExpired || use.requests === 0) return;
    this.#requests -= 1;
    this.#tokens -= use.tokens;
    use.requests = 0;
    use.tokens = 0;
  }

  expire(now: number): void {
    for (
      let use = this.#uses[this.#first];
      use !== undefined && use.at + WINDOW_MS <= now;
      use = this.#uses[this.#first]
    ) {
      use.isExpired = true;
      this.#requests -= use.requests;
      this.#tokens -= use.tokens;
      this.#first += 1;
    }
    if (this.#first < CUT_AT || this.#first * 2 < this.#uses.length) return;
    this.#uses = this.#uses.slice(this.#first);
    this.#first = 0;
  }

  /** When the oldest use leaves; undefined where there is none. */
  get nextExpiryAt(): number | undefined {
    const oldest = this.#uses[this.#first];
    return oldest === undefined ? undefined : oldest.at + WINDOW_MS;
  }
}
