// A message of a chat: what the AI SDK's transports send, as a message to the agent, and back.
//
// The id that the client gave its message travels as the message's `data`, so that the transcript shows it to the client
// again under the same id.

import type { JSONValue } from "@ai-sdk/provider";
import { BadRequestError } from "@perdure/protocol";
import { z } from "zod";
import type { AgentMessage, MessagePolicy } from "../agent/messages.ts";

export interface ChatRequest {
  /** The client's. */
  readonly id: string;
  readonly message: AgentMessage;
}

const ID_LENGTH_MAX = 500;

const bodySchema = z.object({
  trigger: z.string().optional(),
  policy: z.enum(["steer", "interrupt", "queue", "collect", "restart"]).optional(),
  messages: z
    .array(
      z.object({
        id: z.string(),
        role: z.enum(["system", "user", "assistant"]),
        parts: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
      }),
    )
    .min(1),
});

type Body = z.infer<typeof bodySchema>;

/**
 * The last message of what `DefaultChatTransport` sends. The ones before it stand in the agent's transcript.
 * @throws BadRequestError where it is no message that an agent can be given.
 */
export function readChatRequest(body: unknown): ChatRequest {
  const read = bodySchema.safeParse(body);
  if (!read.success) {
    const issue = read.error.issues[0];
    const path = ["$", ...(issue?.path ?? [])].join(".");
    throw new BadRequestError(
      `this is not what the AI SDK's DefaultChatTransport sends ({"id", "messages", "trigger"}): ${path}: ${issue?.message ?? ""}`,
      { metadata: { path } },
    );
  }
  const { trigger, policy, messages } = read.data;
  if (trigger === "regenerate-message")
    throw new BadRequestError(
      "an answer is not made anew in its place: rewind the session to before its message and say that again under another id, or send another message, with the policy `restart` where the turn is still at work",
    );
  const last = messages.at(-1);
  if (last?.role !== "user")
    throw new BadRequestError(
      `the last message is the ${last?.role ?? "nobody"}'s, and only a user's is for the agent; approvals are answered by POST /perdure/approvals/{id}`,
    );
  if (last.id === "" || last.id.length > ID_LENGTH_MAX)
    throw new BadRequestError(`the message's id must have 1 to ${ID_LENGTH_MAX} characters: it tells it from others`);
  return { id: last.id, message: chatMessage(last.id, textOf(last.parts), policy) };
}

function textOf(parts: Body["messages"][number]["parts"]): string {
  const foreign = parts.find(({ type, text }) => type !== "text" || text === undefined);
  if (foreign !== undefined)
    throw new BadRequestError(
      `the message has a part of type "${foreign.type}": agents are told text. Store files where a tool can read them, and send their address`,
    );
  const text = parts.map((part) => part.text ?? "").join("\n");
  if (text.trim() === "") throw new BadRequestError("the message has no text");
  return text;
}

function chatMessage(id: string, text: string, policy: MessagePolicy | undefined): AgentMessage {
  return { text, ...(policy === undefined ? {} : { policy }), data: { chat: { id } } };
}

const chatData = z.looseObject({ chat: z.looseObject({ id: z.string() }) });

/** The client's id of a message; undefined where it did not come by a chat. */
export function chatIdOf(data: JSONValue | undefined): string | undefined {
  return data === undefined ? undefined : chatData.safeParse(data).data?.chat.id;
}
