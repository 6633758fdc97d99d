// The body of a request or a response
// ===================================
//   unread ──read──▶ used             unread: bytes that are there, or a stream that nobody has touched
//
// Bytes become a stream when somebody asks for one; most do not, and a stream is many objects.

import { ReadableStream } from "../streams.ts";
import { bytesOf, encodeUtf8, joined, TextDecoder } from "../text-encoding.ts";
import { parseForm, URLSearchParams } from "../url/search-params.ts";
import { Blob, streamOf } from "./blob.ts";
import { encodeForm, FormData } from "./form-data.ts";
import type { Headers } from "./headers.ts";

export type BodyInit =
  | ArrayBuffer
  | ArrayBufferView
  | Blob
  | FormData
  | ReadableStream<Uint8Array>
  | URLSearchParams
  | string;

interface Content {
  readonly source: Uint8Array | ReadableStream<Uint8Array> | null;
  /** What the body says of itself. */
  readonly type: string | null;
}

export abstract class Body {
  abstract readonly headers: Headers;
  #source: Uint8Array | ReadableStream<Uint8Array> | null = null;
  #isUsed = false;

  /** @internal */
  protected _setBody(init: BodyInit | null | undefined, headers: Headers): void {
    const { source, type } = contentOf(init);
    this.#source = source;
    if (type !== null && !headers.has("content-type")) headers.set("content-type", type);
  }

  get body(): ReadableStream<Uint8Array> | null {
    if (this.#source instanceof Uint8Array) {
      const stream = streamOf(this.#isUsed ? new Uint8Array() : this.#source);
      if (this.#isUsed) void stream.getReader(); // It is locked, and empty.
      this.#source = stream;
    }
    return this.#source;
  }

  get bodyUsed(): boolean {
    return this.#isUsed || (this.#source instanceof ReadableStream && wasRead(this.#source));
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return (await this._read()).slice().buffer as ArrayBuffer;
  }

  async bytes(): Promise<Uint8Array> {
    return (await this._read()).slice();
  }

  async text(): Promise<string> {
    return new TextDecoder().decode(await this._read());
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }

  async blob(): Promise<Blob> {
    return new Blob([await this._read()], { type: this.headers.get("content-type") ?? "" });
  }

  async formData(): Promise<FormData> {
    const type = this.headers.get("content-type") ?? "";
    if (!type.startsWith("application/x-www-form-urlencoded"))
      throw new TypeError(
        `formData() reads application/x-www-form-urlencoded inside an isolate, and the body is "${type}"`,
      );
    const form = new FormData();
    for (const [name, value] of parseForm(await this.text())) form.append(name, value);
    return form;
  }

  /** @internal All of it, once. */
  async _read(): Promise<Uint8Array> {
    this.#checkUnread("read");
    const source = this.#source;
    this.#isUsed = source !== null;
    return source instanceof ReadableStream ? await readAll(source) : (source ?? new Uint8Array());
  }

  /** @internal For a copy, which is read on its own. */
  protected _share(): BodyInit | null {
    this.#checkUnread("cloned");
    if (!(this.#source instanceof ReadableStream)) return this.#source;
    const [mine, other] = this.#source.tee();
    this.#source = mine;
    return other;
  }

  /** @internal */
  get _hasBody(): boolean {
    return this.#source !== null;
  }

  #checkUnread(what: string): void {
    const isLocked = this.#source instanceof ReadableStream && this.#source.locked;
    if (this.bodyUsed || isLocked)
      throw new TypeError(`Body is unusable: it has been read already, and cannot be ${what}`);
  }
}

/** A stream does not tell whether it was read; this one keeps it where the standard has a slot of that name. */
function wasRead(stream: ReadableStream<Uint8Array>): boolean {
  return (stream as unknown as { readonly _disturbed?: boolean })._disturbed === true;
}

function contentOf(init: BodyInit | null | undefined): Content {
  if (init === null || init === undefined) return { source: null, type: null };
  if (init instanceof ReadableStream) {
    if (init.locked) throw new TypeError("Response body object should not be disturbed or locked");
    return { source: init, type: null };
  }
  if (init instanceof Blob) return { source: init._bytes, type: init.type === "" ? null : init.type };
  if (init instanceof FormData) {
    const { bytes, type } = encodeForm(init);
    return { source: bytes, type };
  }
  if (init instanceof URLSearchParams)
    return { source: encodeUtf8(init.toString()), type: "application/x-www-form-urlencoded;charset=UTF-8" };
  if (init instanceof ArrayBuffer || ArrayBuffer.isView(init)) return { source: bytesOf(init).slice(), type: null };
  return { source: encodeUtf8(String(init)), type: "text/plain;charset=UTF-8" };
}

async function readAll(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of stream) {
    if (!(part instanceof Uint8Array)) throw new TypeError("a body's stream gives Uint8Arrays");
    parts.push(part);
  }
  return joined(...parts);
}
