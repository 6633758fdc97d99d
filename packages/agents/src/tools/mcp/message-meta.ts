// What goes along with a tool call in the `_meta` of its message. The client of `@ai-sdk/mcp` has no place for it, so that
// it is put there when the message is sent, by the asynchronous context of the call.

import { AsyncLocalStorage } from "node:async_hooks";
import type { MCPTransport } from "@ai-sdk/mcp";

export type Message = Parameters<MCPTransport["send"]>[0];

/** Under it servers find the key by which they know a repetition. */
export const IDEMPOTENCY_KEY: string = "perdure/idempotencyKey";

const meta: AsyncLocalStorage<Readonly<Record<string, unknown>>> = new AsyncLocalStorage();

export function withMeta<T>(given: Readonly<Record<string, unknown>>, body: () => T): T {
  return meta.run(given, body);
}

/** The message, and the meta of the call that it is sent for. */
export function tagged(message: Message): Message {
  const given = meta.getStore();
  if (given === undefined || !("method" in message) || message.method !== "tools/call") return message;
  return { ...message, params: { ...message.params, _meta: { ...message.params?._meta, ...given } } };
}

/** For the transport that sends its messages by `fetch`. */
export const taggedFetch: typeof fetch = (url, init) => {
  const body = init?.body;
  if (meta.getStore() === undefined || typeof body !== "string") return fetch(url, init);
  return fetch(url, { ...init, body: JSON.stringify(tagged(JSON.parse(body) as Message)) });
};
