// Server-sent events, read incrementally (https://html.spec.whatwg.org/multipage/server-sent-events.html).
// Chunks may end anywhere, also between CR and LF. Sixty lines are less than a dependency would be.

export interface ServerEvent {
  /** The last id that the stream has named. */
  readonly id: string | undefined;
  /** `message` where the stream names none. */
  readonly type: string;
  readonly data: string;
}

export class EventStreamParser {
  /** What the server wants clients to wait before they connect again. */
  retryMs: number | undefined = undefined;
  #rest = "";
  #started = false;
  #id: string | undefined;
  #type = "";
  #data: string[] = [];

  constructor(lastEventId?: string) {
    this.#id = lastEventId;
  }

  feed(chunk: string): ServerEvent[] {
    let text = this.#rest + chunk;
    if (!this.#started && text !== "") {
      this.#started = true;
      if (text.startsWith("\uFEFF")) text = text.slice(1);
    }
    const events: ServerEvent[] = [];
    let from = 0;
    for (;;) {
      const end = lineEnd(text, from);
      if (end === undefined) break;
      this.#line(text.slice(from, end.at), events);
      from = end.next;
    }
    this.#rest = text.slice(from);
    return events;
  }

  #line(line: string, events: ServerEvent[]): void {
    if (line === "") {
      if (this.#data.length > 0)
        events.push({ id: this.#id, type: this.#type === "" ? "message" : this.#type, data: this.#data.join("\n") });
      this.#type = "";
      this.#data = [];
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return; // A comment: it keeps the connection alive.
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "data") this.#data.push(value);
    else if (field === "event") this.#type = value;
    else if (field === "id" && !value.includes("\0")) this.#id = value;
    else if (field === "retry" && /^\d+$/.test(value)) this.retryMs = Number(value);
  }
}

/** Where the line that begins at `from` ends, and the next one begins. A CR at the very end may be half of a CRLF. */
function lineEnd(text: string, from: number): { readonly at: number; readonly next: number } | undefined {
  for (let at = from; at < text.length; at += 1) {
    const character = text[at];
    if (character === "\n") return { at, next: at + 1 };
    if (character === "\r") {
      if (at + 1 === text.length) return undefined;
      return { at, next: text[at + 1] === "\n" ? at + 2 : at + 1 };
    }
  }
  return undefined;
}
