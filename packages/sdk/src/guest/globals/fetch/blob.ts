// Blob and File: bytes that do not change, with a type.

import { tag } from "../define.ts";
import { ReadableStream } from "../streams.ts";
import { bytesOf, encodeUtf8, joined, TextDecoder } from "../text-encoding.ts";

export type BlobPart = ArrayBuffer | ArrayBufferView | Blob | string;

export interface BlobOptions {
  readonly type?: string;
  readonly endings?: "transparent" | "native";
}

export class Blob {
  readonly #bytes: Uint8Array;
  readonly type: string;

  constructor(parts: Iterable<BlobPart> = [], options: BlobOptions = {}) {
    if (typeof parts !== "object" || parts === null) throw new TypeError("a Blob is made of a list of parts");
    this.#bytes = joined(...[...parts].map(partBytes)).slice();
    const type = String(options?.type ?? "");
    this.type = /^[\x20-\x7e]*$/.test(type) ? type.toLowerCase() : "";
  }

  /** @internal Not to be changed. */
  get _bytes(): Uint8Array {
    return this.#bytes;
  }

  get size(): number {
    return this.#bytes.length;
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return this.#bytes.slice().buffer as ArrayBuffer;
  }

  async bytes(): Promise<Uint8Array> {
    return this.#bytes.slice();
  }

  async text(): Promise<string> {
    return new TextDecoder().decode(this.#bytes);
  }

  stream(): ReadableStream<Uint8Array> {
    return streamOf(this.#bytes);
  }

  slice(start = 0, end: number = this.size, type = ""): Blob {
    const part = this.#bytes.slice(start, end);
    return new Blob([part], { type });
  }
}

export class File extends Blob {
  readonly name: string;
  readonly lastModified: number;

  constructor(parts: Iterable<BlobPart>, name: string, options: BlobOptions & { readonly lastModified?: number } = {}) {
    if (arguments.length < 2) throw new TypeError("a File needs its parts and a name");
    super(parts, options);
    this.name = String(name);
    this.lastModified = Number(options?.lastModified ?? Date.now());
  }
}

function partBytes(part: BlobPart): Uint8Array {
  if (part instanceof Blob) return part._bytes;
  return part instanceof ArrayBuffer || ArrayBuffer.isView(part) ? bytesOf(part) : encodeUtf8(String(part));
}

/** A copy of the bytes, whoever reads it may do with it what he likes. */
export function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    pull: (controller) => {
      if (bytes.length > 0) controller.enqueue(bytes.slice());
      controller.close();
    },
  });
}

tag(Blob, "Blob");
tag(File, "File");
