// Request bodies: read once, decoded once
// =======================================
// JSON stays the text that was sent (a number of twenty digits is not rounded on its way through); it is parsed only to
// see that it is JSON, and to check it against a schema. Other content types are bytes.
//
// `curl -d` sends `application/x-www-form-urlencoded` where nobody said otherwise. A form never begins with `{`, `[` or
// `"` (those are percent-encoded), so such a body is taken for the JSON that it looks like.

import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { PayloadTooLargeError, ValidationError, type Payload } from "@perdure/protocol";
import { BODY_BYTES_MAX } from "./context.ts";
import { findJsonError } from "./json-place.ts";

export interface Body {
  readonly payload: Payload | null;
  /** What the JSON says; bytes as they are; undefined where there is no body. */
  readonly value: unknown;
}

const NO_BODY: Body = { payload: null, value: undefined };
const EMPTY: Buffer = Buffer.alloc(0);

/** Calls back once, with the bytes or with why there are none; never, where the connection ends before. */
export function readBody(
  req: IncomingMessage,
  done: (bytes: Buffer, error: PayloadTooLargeError | null) => void,
): void {
  if (Number(req.headers["content-length"]) > BODY_BYTES_MAX) {
    done(EMPTY, tooLarge());
    return;
  }
  let first: Buffer | null = null;
  let chunks: Buffer[] | null = null;
  let size = 0;
  req.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > BODY_BYTES_MAX) {
      if (size - chunk.length <= BODY_BYTES_MAX) done(EMPTY, tooLarge());
      first = null;
      chunks = null;
    } else if (first === null) first = chunk;
    else if (chunks === null) chunks = [first, chunk];
    else chunks.push(chunk);
  });
  req.on("end", () => {
    if (size <= BODY_BYTES_MAX) done(chunks === null ? (first ?? EMPTY) : Buffer.concat(chunks, size), null);
  });
}

export function readBodyAsync(req: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) =>
    readBody(req, (bytes, error) => (error === null ? resolve(bytes) : reject(error))),
  );
}

export function tooLarge(): PayloadTooLargeError {
  return new PayloadTooLargeError(
    `the body is larger than ${BODY_BYTES_MAX / 1024 / 1024} MiB: put large data where the handler can fetch it, and send its address`,
  );
}

/** @throws ValidationError where it should be JSON and is not. */
export function decodeBody(contentType: string | undefined, bytes: Buffer): Body {
  if (contentType === "application/json") return bytes.length === 0 ? NO_BODY : decodeJson(bytes);
  if (bytes.length === 0 && (contentType === undefined || isJsonType(contentType))) return NO_BODY;
  if (contentType === undefined || isJsonType(contentType) || isMislabelledJson(contentType, bytes))
    return decodeJson(bytes);
  const copy = new Uint8Array(bytes); // Not a view of the connection's buffer, which it would keep alive.
  return { payload: copy, value: copy };
}

export function isBytesType(contentType: string | undefined, body: Body): contentType is string {
  return contentType !== undefined && body.payload instanceof Uint8Array;
}

function isJsonType(contentType: string): boolean {
  const end = contentType.indexOf(";");
  const type = (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
  return type === "application/json" || type.endsWith("+json");
}

function isMislabelledJson(contentType: string, bytes: Buffer): boolean {
  const first = bytes[0];
  return contentType === "application/x-www-form-urlencoded" && (first === 0x7b || first === 0x5b || first === 0x22);
}

function decodeJson(bytes: Buffer): Body {
  const text = bytes.toString("utf8");
  // Bytes that are not UTF-8 would be replaced silently; the replacement character gives them away.
  if (text.includes("\uFFFD") && !isUtf8(bytes))
    throw new ValidationError("the body is not JSON: it is not UTF-8", { metadata: { path: "$" } });
  return { payload: text, value: parseJson(text) };
}

/** @throws ValidationError saying where the text stops being JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const place = findJsonError(text);
    if (place === undefined) throw cause;
    const { offset, line, column, path } = place;
    const found =
      offset >= text.length
        ? "it ends too early"
        : `unexpected ${JSON.stringify(String.fromCodePoint(text.codePointAt(offset) ?? 0))}`;
    const where = `at position ${offset} (line ${line}, column ${column}, in ${path})`;
    throw new ValidationError(`the body is not JSON: ${found} ${where}`, {
      cause,
      metadata: { path, position: String(offset) },
    });
  }
}
