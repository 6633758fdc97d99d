// The ingress' fixed paths for streams, agents and approvals, as OpenAPI.

import { ERRORS, json, pathParameter, type Json } from "./openapi-parts.ts";

const TAGS = ["perdure"];
const text: Json = { type: "string" };
const count: Json = { type: "integer", minimum: 0 };

export function addAgentPaths(paths: Record<string, Json>): void {
  const follow = {
    parameters: [
      query("from", text, "An offset, or `end`: only what comes. Default 0"),
      query("follow", { type: "string", enum: ["true", "false"] }, "false: one page, as JSON"),
      query("limit", { type: "integer", minimum: 1, maximum: 1_000, default: 100 }, "Items of the page"),
      header("last-event-id", "The offset that was seen last: it goes on behind it"),
    ],
    responses: { 200: STREAM, ...ERRORS },
  };
  add(paths, "get", "/perdure/streams/{service}/{key}/{name}", "followStream", "Follow a stream of a key", follow);
  add(paths, "get", "/perdure/runs/{id}/streams/{name}", "followRunStream", "Follow a stream of a run", follow);
  addChat(paths);
  const approval = "/perdure/approvals/{id}";
  const shown = { 200: { description: "The approval", content: { "application/json": {}, "text/html": {} } } };
  add(paths, "get", approval, "showApproval", "A question to a person: JSON, or a page with a form", {
    responses: { ...shown, ...ERRORS },
  });
  add(paths, "post", approval, "answerApproval", "Answer it: 403 who may not, 409 where somebody has", {
    requestBody: {
      required: true,
      content: { "application/json": { schema: ANSWER }, "application/x-www-form-urlencoded": { schema: ANSWER } },
    },
    responses: { 200: json("The decision", { type: "object" }), 303: { description: "A form was taken" }, ...ERRORS },
  });
}

function addChat(paths: Record<string, Json>): void {
  const session = "/perdure/agents/{agent}/{session}";
  const nothing = { 204: { description: "Nothing is under way" } };
  add(
    paths,
    "post",
    `${session}/chat`,
    "chat",
    "Say something to an agent as useChat does, and be told what it answers",
    {
      requestBody: { required: true, content: { "application/json": { schema: CHAT } } },
      responses: { 200: UI_STREAM, ...ERRORS },
    },
  );
  const resume = { responses: { 200: UI_STREAM, ...nothing, ...ERRORS } };
  const what = "What the agent answers now, from the beginning";
  add(paths, "get", `${session}/chat`, "resumeChat", what, resume);
  add(
    paths,
    "get",
    `${session}/chat/{chat}/stream`,
    "resumeChatOf",
    `${what}, where DefaultChatTransport asks`,
    resume,
  );
  add(paths, "post", `${session}/stop`, "stopAgent", "End the turn, keeping what was said", {
    responses: {
      200: json("Was there one?", { type: "object", properties: { stopped: { type: "boolean" } } }),
      ...ERRORS,
    },
  });
  add(paths, "get", `${session}/messages`, "agentMessages", "The conversation as UIMessage[]", {
    parameters: [
      query("last", { type: "integer", minimum: 1 }, "So many of the transcript's newest items. Default 2000"),
    ],
    responses: { 200: json("Messages of the AI SDK", { type: "array", items: { type: "object" } }), ...ERRORS },
  });
  add(paths, "get", `${session}/messages/{run}`, "messageReceipt", "How far a message is", {
    parameters: [
      query("wait", { type: "string", enum: ["seen", "answered"] }, "Answer when that is so, or after a while"),
    ],
    responses: { 200: json("Accepted, seen, answered", RECEIPT), ...ERRORS },
  });
}

function add(
  paths: Record<string, Json>,
  method: "get" | "post",
  url: string,
  operationId: string,
  summary: string,
  { parameters = [], ...rest }: { readonly parameters?: readonly Json[]; readonly [name: string]: unknown },
): void {
  const inPath = [...url.matchAll(/\{(\w+)\}/g)].map((match) => pathParameter(match[1] ?? ""));
  const operation = { tags: TAGS, operationId, summary, parameters: [...inPath, ...parameters], ...rest };
  paths[url] = { ...paths[url], [method]: operation };
}

function query(name: string, schema: Json, description: string): Json {
  return { name, in: "query", required: false, schema, description };
}

function header(name: string, description: string): Json {
  return { name, in: "header", required: false, schema: text, description };
}

const ITEM: Json = {
  type: "object",
  required: ["offset", "at", "writer", "item"],
  properties: {
    offset: count,
    at: { type: "string", format: "date-time" },
    writer: { type: ["string", "null"] },
    item: {},
  },
};
const STREAM: Json = {
  description: "Items as server-sent events (`reset`: some were trimmed), or a page",
  content: {
    "text/event-stream": { schema: text },
    "application/json": {
      schema: {
        type: "object",
        required: ["items", "start", "end"],
        properties: { items: { type: "array", items: ITEM }, start: count, end: count },
      },
    },
  },
};
const UI_STREAM: Json = {
  description: "A UI message stream of the AI SDK",
  content: { "text/event-stream": { schema: text } },
};
const CHAT: Json = {
  type: "object",
  required: ["messages"],
  properties: {
    id: text,
    trigger: text,
    messages: { type: "array", minItems: 1, items: { type: "object" }, description: "The last one is said" },
    policy: { type: "string", enum: ["steer", "interrupt", "queue", "collect", "restart"] },
  },
};
const ANSWER: Json = {
  type: "object",
  required: ["decision", "by"],
  properties: {
    decision: { type: "string", enum: ["approved", "rejected"] },
    by: text,
    comment: text,
    input: { description: "What to do instead of what was asked" },
  },
};
const RECEIPT: Json = {
  type: "object",
  required: ["runId", "accepted", "seen", "answered", "status"],
  properties: {
    runId: text,
    accepted: { const: true },
    seen: { type: "boolean" },
    answered: { type: "boolean" },
    status: text,
    offset: count,
  },
};
