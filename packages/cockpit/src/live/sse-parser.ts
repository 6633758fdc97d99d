// Server-sent events, out of chunks of text that may be cut anywhere.
//
// P1. However the text is cut, the same events come out.

export interface SseMessage {
  /** The last `id:` that was seen, this message's or an earlier one's. */
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

export class SseParser {
  #rest = "";
  #id = "";
  #event = "";
  #data: string[] = [];

  /** The last id that the server named; it may come without a message. */
  get lastId(): string {
    return this.#id;
  }

  push(chunk: string): readonly SseMessage[] {
    const messages: SseMessage[] = [];
    const text = this.#rest + chunk;
    let start = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
      const line = text.charCodeAt(end - 1) === 13 ? text.slice(start, end - 1) : text.slice(start, end);
      start = end + 1;
      const message = this.#line(line);
      if (message !== null) messages.push(message);
    }
    this.#rest = text.slice(start);
    return messages;
  }

  #line(line: string): SseMessage | null {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    if (colon === 0) return null; // A sign of life.
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line.charCodeAt(colon + 1) === 32 ? colon + 2 : colon + 1);
    if (field === "data") this.#data.push(value);
    else if (field === "id") this.#id = value;
    else if (field === "event") this.#event = value;
    return null;
  }

  #dispatch(): SseMessage | null {
    const message = { id: this.#id, event: this.#event, data: this.#data.join("\n") };
    const isMessage = this.#data.length > 0;
    this.#event = "";
    this.#data = [];
    return isMessage ? message : null;
  }
}
