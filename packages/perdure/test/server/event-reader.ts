// A reader of server-sent events, as browsers have one.

export interface SentEvent {
  readonly id: string | undefined;
  readonly type: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- Tests look into events of every type.
  readonly data: any;
}

export class EventReader {
  readonly events: SentEvent[] = [];
  readonly comments: string[] = [];
  lastId: string | undefined;
  ended = false;
  readonly #controller = new AbortController();
  #wake: () => void = () => undefined;

  static async open(url: string, headers: Record<string, string> = {}): Promise<EventReader> {
    const reader = new EventReader();
    const response = await fetch(url, { headers, signal: reader.#controller.signal });
    if (response.status !== 200 || response.body === null)
      throw new Error(`${response.status} ${await response.text()}`);
    void reader
      .#read(response.body)
      .catch(() => undefined)
      .finally(() => {
        reader.ended = true;
        reader.#wake();
      });
    await reader.until(() => reader.lastId !== undefined);
    return reader;
  }

  close(): void {
    this.#controller.abort();
  }

  /** The first event that fits, of those that came and those that come. */
  async next(fits: (event: SentEvent) => boolean): Promise<SentEvent> {
    await this.until(() => this.events.some(fits));
    return this.events.find(fits) as SentEvent;
  }

  async until(done: () => boolean): Promise<void> {
    const end = Date.now() + 10_000;
    while (!done()) {
      if (Date.now() > end)
        throw new Error(`waited too long; so far came ${JSON.stringify(this.events.map(({ type }) => type))}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 100);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of body) {
      const blocks = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) this.#block(block);
      this.#wake();
    }
  }

  #block(block: string): void {
    const fields = new Map<string, string>();
    for (const line of block.split("\n")) {
      const colon = line.indexOf(":");
      if (colon === 0) this.comments.push(line.slice(1).trim());
      else fields.set(line.slice(0, colon), line.slice(colon + 1).trim());
    }
    const id = fields.get("id");
    if (id !== undefined) this.lastId = id;
    const data = fields.get("data");
    if (data !== undefined) this.events.push({ id, type: fields.get("event") ?? "message", data: JSON.parse(data) });
  }
}
