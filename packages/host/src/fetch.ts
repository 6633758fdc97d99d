// Requests of `ctx.fetch`, and of `fetch` inside isolates: answers are read to their end, since they are journaled.

import { isUtf8 } from "node:buffer";
import type { FetchAnswer, FetchRequest } from "@perdure/sdk";

const { fetch: request } = globalThis; // The original, taken before a guard wraps it.

export async function hostFetch(
  { url, method, headers, body }: FetchRequest,
  { signal }: { readonly signal: AbortSignal },
): Promise<FetchAnswer> {
  const response = await request(url, {
    method,
    headers: headers.map(([name, value]): [string, string] => [name, value]),
    signal,
    ...(body === null ? {} : { body: typeof body === "string" ? body : new Uint8Array(body) }),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  return {
    status: response.status,
    statusText: response.statusText,
    url: response.url,
    headers: [...response.headers],
    body:
      bytes.length === 0
        ? null
        : isUtf8(bytes)
          ? { text: bytes.toString("utf8") }
          : { base64: bytes.toString("base64") },
  };
}
