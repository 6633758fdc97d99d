// Streams of the web platform, and the two that make text of bytes and bytes of text.

import { TransformStream } from "web-streams-polyfill";
import { tag } from "./define.ts";
import { TextDecoder, TextEncoder } from "./text-encoding.ts";

export {
  ByteLengthQueuingStrategy,
  CountQueuingStrategy,
  ReadableByteStreamController,
  ReadableStream,
  ReadableStreamBYOBReader,
  ReadableStreamBYOBRequest,
  ReadableStreamDefaultController,
  ReadableStreamDefaultReader,
  TransformStream,
  TransformStreamDefaultController,
  WritableStream,
  WritableStreamDefaultController,
  WritableStreamDefaultWriter,
} from "web-streams-polyfill";

type Chunk = ArrayBuffer | ArrayBufferView;

export class TextDecoderStream {
  readonly #decoder: TextDecoder;
  readonly #stream: TransformStream<Chunk, string>;

  constructor(label = "utf-8", options: { readonly fatal?: boolean; readonly ignoreBOM?: boolean } = {}) {
    const decoder = new TextDecoder(label, options);
    this.#decoder = decoder;
    this.#stream = new TransformStream<Chunk, string>({
      transform: (chunk, controller) => {
        const text = decoder.decode(chunk, { stream: true });
        if (text !== "") controller.enqueue(text);
      },
      flush: (controller) => {
        const text = decoder.decode();
        if (text !== "") controller.enqueue(text);
      },
    });
  }

  get encoding(): string {
    return this.#decoder.encoding;
  }
  get fatal(): boolean {
    return this.#decoder.fatal;
  }
  get ignoreBOM(): boolean {
    return this.#decoder.ignoreBOM;
  }
  get readable(): TransformStream<Chunk, string>["readable"] {
    return this.#stream.readable;
  }
  get writable(): TransformStream<Chunk, string>["writable"] {
    return this.#stream.writable;
  }
}

export class TextEncoderStream {
  readonly #stream: TransformStream<string, Uint8Array>;

  constructor() {
    const encoder = new TextEncoder();
    let half = ""; // The first part of a character that was cut in two.
    this.#stream = new TransformStream<string, Uint8Array>({
      transform: (chunk, controller) => {
        const text = half + String(chunk);
        half = /[\ud800-\udbff]$/.exec(text)?.[0] ?? "";
        const whole = half === "" ? text : text.slice(0, -1);
        if (whole !== "") controller.enqueue(encoder.encode(whole));
      },
      flush: (controller) => {
        if (half !== "") controller.enqueue(encoder.encode(half));
      },
    });
  }

  get encoding(): string {
    return "utf-8";
  }
  get readable(): TransformStream<string, Uint8Array>["readable"] {
    return this.#stream.readable;
  }
  get writable(): TransformStream<string, Uint8Array>["writable"] {
    return this.#stream.writable;
  }
}

tag(TextDecoderStream, "TextDecoderStream");
tag(TextEncoderStream, "TextEncoderStream");
