// FormData, and how it is written into a body.

import { guestHost } from "../../host-port.ts";
import { tag } from "../define.ts";
import { encodeUtf8, joined } from "../text-encoding.ts";
import { Blob, File } from "./blob.ts";

type Entry = [name: string, value: string | File];

export class FormData {
  #entries: Entry[] = [];

  append(name: string, value: string | Blob, filename?: string): void {
    this.#entries.push(entryOf(name, value, filename));
  }

  delete(name: string): void {
    this.#entries = this.#entries.filter((entry) => entry[0] !== String(name));
  }

  get(name: string): string | File | null {
    return this.#entries.find((entry) => entry[0] === String(name))?.[1] ?? null;
  }

  getAll(name: string): (string | File)[] {
    return this.#entries.filter((entry) => entry[0] === String(name)).map((entry) => entry[1]);
  }

  has(name: string): boolean {
    return this.#entries.some((entry) => entry[0] === String(name));
  }

  set(name: string, value: string | Blob, filename?: string): void {
    const first = this.#entries.findIndex((entry) => entry[0] === String(name));
    const made = entryOf(name, value, filename);
    if (first === -1) this.#entries.push(made);
    else
      this.#entries = this.#entries
        .filter((entry, at) => at <= first || entry[0] !== String(name))
        .map((entry, at) => (at === first ? made : entry));
  }

  forEach(callback: (value: string | File, name: string, form: FormData) => void, self?: unknown): void {
    for (const [name, value] of this) callback.call(self, value, name, this);
  }

  *entries(): IterableIterator<[string, string | File]> {
    for (const [name, value] of this.#entries) yield [name, value];
  }

  *keys(): IterableIterator<string> {
    for (const [name] of this.#entries) yield name;
  }

  *values(): IterableIterator<string | File> {
    for (const [, value] of this.#entries) yield value;
  }

  [Symbol.iterator](): IterableIterator<[string, string | File]> {
    return this.entries();
  }
}

function entryOf(name: string, value: string | Blob, filename: string | undefined): Entry {
  if (!(value instanceof Blob)) return [String(name).toWellFormed(), String(value).toWellFormed()];
  const isRenamed = filename !== undefined || !(value instanceof File);
  return [String(name).toWellFormed(), isRenamed ? new File([value], filename ?? "blob", { type: value.type }) : value];
}

/** `multipart/form-data`, with a boundary that is in none of its parts. */
export function encodeForm(form: FormData): { readonly bytes: Uint8Array; readonly type: string } {
  const boundary = `----perdure-${guestHost.randomUUID()}`;
  const parts: Uint8Array[] = [];
  for (const [name, value] of form) {
    const isFile = value instanceof File;
    const file = isFile
      ? `; filename="${quoted(value.name)}"\r\nContent-Type: ${value.type || "application/octet-stream"}`
      : "";
    parts.push(
      encodeUtf8(`--${boundary}\r\nContent-Disposition: form-data; name="${quoted(lines(name))}"${file}\r\n\r\n`),
    );
    parts.push(isFile ? value._bytes : encodeUtf8(lines(value)), encodeUtf8("\r\n"));
  }
  return {
    bytes: joined(...parts, encodeUtf8(`--${boundary}--\r\n`)),
    type: `multipart/form-data; boundary=${boundary}`,
  };
}

const lines = (text: string): string => text.replace(/\r\n|\r|\n/g, "\r\n");
const quoted = (text: string): string => text.replace(/\n/g, "%0A").replace(/\r/g, "%0D").replace(/"/g, "%22");

tag(FormData, "FormData");
