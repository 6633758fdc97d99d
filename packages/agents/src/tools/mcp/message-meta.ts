// The idempotency key of a tool call, in the `_meta` of its message. The client of `@ai-sdk/mcp` has no place for it: it goes
// along with the arguments, and is moved to where it belongs when the message is sent. All transports are made to do that.

import type { MCPTransport } from "@ai-sdk/mcp";

export type Message = Parameters<MCPTransport["send"]>[0];

/** Under it servers find the key by which they know a repetition. */
const IDEMPOTENCY_KEY = "perdure/idempotencyKey";

/** The arguments as the client is given them. */
export function withKey(given: Readonly<Record<string, unknown>>, idempotencyKey: string): Record<string, unknown> {
  return { ...given, [IDEMPOTENCY_KEY]: idempotencyKey };
}

/** The message as the server is sent it. */
export function tagged(message: Message): Message {
  if (!("method" in message) || message.method !== "tools/call") return message;
  const given = message.params?.["arguments"] as Readonly<Record<string, unknown>> | undefined;
  if (given === undefined || !Object.hasOwn(given, IDEMPOTENCY_KEY)) return message;
  const { [IDEMPOTENCY_KEY]: key, ...rest } = given;
  const meta = { ...message.params?._meta, [IDEMPOTENCY_KEY]: key };
  return { ...message, params: { ...message.params, arguments: rest, _meta: meta } };
}

/** For the transport that sends its messages by `fetch`. */
export const taggedFetch: typeof fetch = (url, init) => {
  const body = init?.body;
  if (typeof body !== "string") return fetch(url, init);
  return fetch(url, { ...init, body: JSON.stringify(tagged(JSON.parse(body) as Message)) });
};
