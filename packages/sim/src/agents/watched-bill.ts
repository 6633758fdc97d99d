// The provider's books as the requests of one process come to them. The books themselves are kept outside of all hosts, so
// that no crash loses a line.

import { Bill } from "@perdure/agents";

export class WatchedBill extends Bill {
  readonly #books: Bill;
  readonly #asked: (key: string) => () => void;

  /** @param asked called as a request comes; what it returns, when the answer was delivered in full. */
  constructor(books: Bill, asked: (key: string) => () => void) {
    super();
    this.#books = books;
    this.#asked = asked;
  }

  override open(key: string | undefined): (usage: { inputTokens: number; outputTokens: number }) => void {
    const count = this.#books.open(key);
    const paid = this.#asked(key ?? "");
    return (usage) => {
      count(usage);
      paid();
    };
  }
}
