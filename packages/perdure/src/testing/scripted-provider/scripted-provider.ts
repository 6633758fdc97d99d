// A provider for tests: it speaks the wire formats of OpenAI and Anthropic, says what a script says, and keeps the bill
// =====================================================================================================================
//
//   POST …/openai/v1/chat/completions, …/openai/v1/responses, …/anthropic/v1/messages
//
// It listens on a free port of this machine. Any key is accepted. Idempotency keys are noted, not honoured, as with the
// real ones: asked twice it answers twice, and the bill says so.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json as readJson } from "node:stream/consumers";
import {
  Bill,
  planReply,
  type Script,
  type ScriptedPlan,
  type ScriptedRecording,
  type ScriptedRefusal,
  type ScriptedReply,
  type ScriptedRequest,
  Sightings,
} from "@perdure/agents";
import { anthropicMessages } from "./anthropic-messages.ts";
import { openAiChat } from "./openai-chat.ts";
import { openAiResponses } from "./openai-responses.ts";
import { finish, perform, takeTime } from "./performance.ts";
import { parseRecording } from "./recording.ts";
import type { JsonObject, ResponseHead, StreamWriter, WireFormat } from "./wire.ts";

export interface ScriptedProviderOptions {
  readonly script: Script;
}

export interface ScriptedProvider {
  readonly url: string;
  /** For `createOpenAI({ baseURL })`. */
  readonly openaiBaseUrl: string;
  /** For `createAnthropic({ baseURL })`. */
  readonly anthropicBaseUrl: string;
  readonly bill: Bill;
  readonly requests: readonly ScriptedRequest[];
  /** Breaks off what is under way. @throws what the script threw meanwhile, so that no test overlooks it. */
  close(): Promise<void>;
}

const FORMATS: readonly WireFormat[] = [openAiChat, openAiResponses, anthropicMessages];
const JSON_HEADERS = { "content-type": "application/json" };
const STREAM_HEADERS = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" };

export async function startScriptedProvider({ script }: ScriptedProviderOptions): Promise<ScriptedProvider> {
  const stage = new Stage(script);
  const server = createServer((request, response) => void stage.serve(request, response));
  const url = await listen(server);
  return {
    url,
    openaiBaseUrl: `${url}/openai/v1`,
    anthropicBaseUrl: `${url}/anthropic/v1`,
    bill: stage.bill,
    requests: stage.requests,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      if (stage.faults.length > 0) throw new AggregateError(stage.faults, "the script of a scripted provider threw");
    },
  };
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

class Stage {
  readonly bill: Bill = new Bill();
  readonly requests: ScriptedRequest[] = [];
  readonly faults: unknown[] = [];
  readonly #script: Script;
  readonly #sightings: Sightings = new Sightings();

  constructor(script: Script) {
    this.#script = script;
  }

  async serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.#answer(incoming, response);
    } catch (error) {
      if (response.destroyed) return; // The client left in the middle of its own request.
      this.faults.push(error);
      const message = `the script threw: ${error instanceof Error ? error.message : String(error)}`;
      await respond(response, 500, { error: { type: "script_error", code: "script_error", message } });
    }
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = incoming.url?.split("?", 1)[0] ?? "";
    const format = FORMATS.find((candidate) => path.endsWith(candidate.path));
    if (format === undefined || incoming.method !== "POST") {
      const message = `${incoming.method} ${path} is not part of the script: POST …${FORMATS.map((f) => f.path).join(", …")}`;
      await respond(response, 404, { error: { type: "not_found_error", message } });
      return;
    }
    const body = (await readJson(incoming)) as JsonObject;
    const request = requestOf(format, body, incoming);
    const head = {
      number: this.requests.push(request),
      modelId: request.modelId,
      createdAtSeconds: Math.floor(Date.now() / 1_000),
      request: body,
    };
    const paid = this.bill.open(request.idempotencyKey);
    const answer = await this.#script(request, this.#sightings.count(request));
    const reply = typeof answer === "string" ? { text: answer } : answer;
    if ("error" in reply) await refuse(response, format, reply);
    else if ("recording" in reply) {
      if (await replay(response, format, reply, head)) paid({ inputTokens: 0, outputTokens: 0 });
    } else {
      const { isDelivered, usage } = await say(response, format, reply, head, request);
      if (isDelivered) paid(usage);
    }
  }
}

async function refuse(response: ServerResponse, format: WireFormat, refusal: ScriptedRefusal): Promise<void> {
  const { status, body } = format.failure(refusal.error);
  const { retryAfterMs, message } = refusal;
  const manner = refusal.firstTokenMs === undefined ? {} : { firstTokenMs: refusal.firstTokenMs };
  if (!(await takeTime(response, 0, manner))) return;
  if (retryAfterMs !== undefined) {
    response.setHeader("retry-after", Math.ceil(retryAfterMs / 1_000));
    response.setHeader("retry-after-ms", retryAfterMs);
  }
  await respond(response, status, body(message));
}

/** @returns whether an answer was delivered in full. */
async function replay(
  response: ServerResponse,
  format: WireFormat,
  recorded: ScriptedRecording,
  head: ResponseHead,
): Promise<boolean> {
  const { status, headers, pieces } = parseRecording(recorded.recording);
  const { fail } = format.writer(planReply({}, { messages: [] }), head);
  const delivered = await perform(response, { status, headers, begin: "", pieces, end: () => "", fail }, recorded);
  return delivered && status < 400;
}

async function say(
  response: ServerResponse,
  format: WireFormat,
  reply: ScriptedReply,
  head: ResponseHead,
  request: ScriptedRequest,
): Promise<{ readonly isDelivered: boolean; readonly usage: { inputTokens: number; outputTokens: number } }> {
  const plan = planReply(reply, request);
  const { usage } = plan;
  if (!request.streaming) {
    if (!(await takeTime(response, plan.pieces.length, reply))) return { isDelivered: false, usage };
    const kind = reply.fault?.kind;
    if (kind === "overloaded" || kind === "server") {
      const { status, body } = format.failure(kind);
      await respond(response, status, body(undefined));
      return { isDelivered: false, usage };
    }
    return { isDelivered: await respond(response, 200, format.whole(plan, head)), usage };
  }
  const writer = format.writer(plan, head);
  const work = {
    status: 200,
    headers: STREAM_HEADERS,
    begin: writer.begin(),
    pieces: written(plan, writer),
    end: () => writer.end(),
    fail: (error: "overloaded" | "server") => writer.fail(error),
  };
  return { isDelivered: await perform(response, work, reply), usage };
}

/** Lazily: a piece is written when its time has come. */
function* written(plan: ScriptedPlan, writer: StreamWriter): Generator<string> {
  for (const piece of plan.pieces) yield writer.piece(piece);
}

function respond(response: ServerResponse, status: number, body: JsonObject): Promise<boolean> {
  response.writeHead(status, JSON_HEADERS);
  return finish(response, JSON.stringify(body));
}

function requestOf(format: WireFormat, body: JsonObject, incoming: IncomingMessage): ScriptedRequest {
  const headers = Object.entries(incoming.headers).map(([name, value]) => [name, String(value ?? "")] as const);
  const key = incoming.headers["idempotency-key"];
  return {
    api: format.api,
    ...format.read(body),
    idempotencyKey: typeof key === "string" ? key : undefined,
    headers: Object.fromEntries(headers),
    body,
  };
}
