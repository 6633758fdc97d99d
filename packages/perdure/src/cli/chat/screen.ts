// Where a chat is shown. A flow is text that comes in pieces; a line stands for itself.

import type { OutputStream } from "../io.ts";

export type FlowStyle = "text" | "reasoning";

export interface Screen {
  /** @param source whose text it is: what comes from another one begins on a new line. */
  flow(source: string, style: FlowStyle, text: string): void;
  line(text: string): void;
}

/** Without a terminal: plain text, in the order in which it comes. */
export class PlainScreen implements Screen {
  readonly #stream: OutputStream;
  #flow: string | undefined;
  #atStart = true;

  constructor(stream: OutputStream) {
    this.#stream = stream;
  }

  flow(source: string, style: FlowStyle, text: string): void {
    if (text === "") return;
    const flow = `${source}/${style}`;
    if (this.#flow !== undefined && this.#flow !== flow) this.#break();
    this.#flow = flow;
    this.#stream.write(text);
    this.#atStart = text.endsWith("\n");
  }

  line(text: string): void {
    this.#break();
    this.#stream.write(`${text}\n`);
  }

  #break(): void {
    if (!this.#atStart) this.#stream.write("\n");
    this.#atStart = true;
    this.#flow = undefined;
  }
}
