// A chat with an agent, as the AI SDK's useChat has it
// ====================================================
//   POST /perdure/agents/{agent}/{session}/chat                 the last message is said to the agent; what it answers
//   GET  …/chat, and …/chat/{id}/stream (DefaultChatTransport)  what it is answering now, from the beginning; 204: nothing
//   POST …/stop                                                 ends the turn, keeping what was said
//   GET  …/messages                                             the conversation, for useChat's initial messages
//   GET  …/messages/{run}                                       how far a message is: accepted, seen, answered
//
// H1. A message is stored before anything is answered (E1), under a key made of the client's id: sending it again is the
//     same message (E9), and is told the same answer.
// H2. Whoever goes away stops nothing. Only POST …/stop does.
// H3. An answer ends with its turn, not with the connection: a reader that was cut off sees that it was, and comes back.

import type { ServerResponse } from "node:http";
import {
  AnswerChunks,
  EVENTS,
  readChatRequest,
  readMessage,
  TRANSCRIPT,
  uiMessagesOf,
  type AgentAnswer,
  type AgentUIChunk,
  type AgentUIMessage,
  type TranscriptItem,
} from "@perdure/agents";
import {
  BadRequestError,
  ConflictError,
  isFinished,
  type MessageReceipt,
  type Result,
  type RunId,
} from "@perdure/protocol";
import {
  agentEvent,
  isMessage,
  itemsBack,
  itemsFrom,
  messageRun,
  seenAt,
  transcriptItem,
  turnOf,
  UNSEEN,
  type AgentSession,
} from "./agent-runs.ts";
import type { ServedRuntime } from "./context.ts";
import type { SseConnection, SseConnections } from "./sse.ts";

const UI_STREAM_HEADERS = { "x-vercel-ai-ui-message-stream": "v1" };
const DONE = "data: [DONE]\n\n";
/** Of the queue, and of the transcript's newest. */
const PENDING_SHOWN = 100;
const ITEMS_SHOWN = 2_000;
/** How long `?wait=` waits before it says how things stand. */
const WAIT_MS = 25_000;

export class Chat {
  readonly #runtime: ServedRuntime;
  readonly #connections: SseConnections;
  readonly #heartbeatMs: number;

  constructor(runtime: ServedRuntime, connections: SseConnections, heartbeatMs: number) {
    this.#runtime = runtime;
    this.#connections = connections;
    this.#heartbeatMs = heartbeatMs;
  }

  /** @throws BadRequestError, ConflictError */
  async send(res: ServerResponse, owner: AgentSession, body: unknown): Promise<void> {
    const { id, message } = readChatRequest(body);
    const { end } = await this.#runtime.readStream({ owner, name: EVENTS }, Number.MAX_SAFE_INTEGER, 1);
    const { run, existing } = await this.#runtime.submit({
      target: { ...owner, handler: "send" },
      input: JSON.stringify(message),
      idempotencyKey: `chat/${id}`,
    });
    if (existing) await this.#checkSame(run, id, message.text);
    this.#tell(res, owner, { run, follows: run, from: existing ? 0 : end, endsWithNext: true });
  }

  /** H1: another text under the same id would be answered with what was said to the first. */
  async #checkSame(run: RunId, id: string, text: string): Promise<void> {
    const { input } = await this.#runtime.run(run);
    const said = typeof input === "string" ? readMessage(JSON.parse(input)) : undefined;
    if (said?.text !== text)
      throw new ConflictError(
        `message "${id}" was sent before with another text, and the transcript only grows: send it under another id`,
      );
  }

  async resume(res: ServerResponse, owner: AgentSession): Promise<void> {
    const answer = await this.#underWay(owner);
    if (answer === undefined) {
      res.writeHead(204);
      res.end();
    } else this.#tell(res, owner, answer);
  }

  /** What is being answered: the newest message that the turn has seen, or the one that it begins with. */
  async #underWay(owner: AgentSession): Promise<Answer | undefined> {
    const turn = await turnOf(this.#runtime, owner);
    if (turn === undefined) return undefined;
    let newest: { readonly run: RunId; readonly from: number } | undefined;
    for await (const item of itemsBack(this.#runtime, owner, EVENTS)) {
      const event = agentEvent(item);
      if (event.type === "message" && event.notice === undefined) newest ??= { run: event.id, from: item.offset };
      if (event.type !== "turn-start") continue;
      // Where it is of another turn, this one has not begun to tell.
      const told = event.turn === turn.id ? (newest ?? { run: turn.id, from: item.offset }) : undefined;
      return { ...(told ?? { run: turn.id, from: item.offset }), follows: turn.id, endsWithNext: false };
    }
    return { run: turn.id, from: 0, follows: turn.id, endsWithNext: false };
  }

  #tell(res: ServerResponse, owner: AgentSession, answer: Answer): void {
    if (res.destroyed) return; // The asker is gone. Its message is not.
    const connection = this.#connections.begin(res, { heartbeatMs: this.#heartbeatMs, headers: UI_STREAM_HEADERS });
    connection.goodbye = null; // H3
    new AnswerStream(this.#runtime, connection, owner, answer).begin();
  }

  async messages(owner: AgentSession, last: number = ITEMS_SHOWN): Promise<readonly AgentUIMessage[]> {
    const { start, end } = await this.#runtime.readStream({ owner, name: TRANSCRIPT }, Number.MAX_SAFE_INTEGER, 1);
    const first = Math.max(start, end - last);
    const items: TranscriptItem[] = [];
    for await (const item of itemsFrom(this.#runtime, owner, TRANSCRIPT, first)) items.push(transcriptItem(item));
    return [...uiMessagesOf(items, first), ...(await this.#pending(owner, items))];
  }

  /** What was accepted and not seen yet. */
  async #pending(owner: AgentSession, items: readonly TranscriptItem[]): Promise<AgentUIMessage[]> {
    const seen = new Set(items.flatMap((item) => (item.type === "message" ? [item.id] : [])));
    const runs = await this.#runtime.reader.runs({
      ...owner,
      handler: "send",
      status: UNSEEN,
      order: "oldest",
      limit: PENDING_SHOWN,
    });
    const messages: TranscriptItem[] = [];
    for (const { id, input } of runs) {
      const message = seen.has(id) || typeof input !== "string" ? undefined : readMessage(JSON.parse(input));
      if (message === undefined || message.notice !== undefined) continue;
      const { text, policy = "steer", from, data } = message;
      const more = { ...(from === undefined ? {} : { from }), ...(data === undefined ? {} : { data }) };
      messages.push({ type: "message", id, text, policy, ...more });
    }
    return uiMessagesOf(messages);
  }

  /** @param wait for that state, for a while. @throws RunNotFoundError, BadRequestError */
  async receipt(res: ServerResponse, owner: AgentSession, id: RunId, wait?: string): Promise<MessageReceipt> {
    if (wait !== undefined && wait !== "seen" && wait !== "answered")
      throw new BadRequestError(`wait is "${wait}" and must be seen or answered`);
    const before = await this.#receiptNow(owner, id);
    if (wait === undefined || before[wait] || before.answered) return before;
    await this.#waitFor(res, owner, id, wait);
    return this.#receiptNow(owner, id);
  }

  async #receiptNow(owner: AgentSession, id: RunId): Promise<MessageReceipt> {
    const run = await messageRun(this.#runtime, owner, id);
    const offset = await seenAt(this.#runtime, owner, run);
    return {
      runId: id,
      accepted: true,
      seen: offset !== undefined,
      answered: isFinished(run.status),
      status: run.status,
      ...(offset === undefined ? {} : { offset }),
    };
  }

  /** Until it has come to pass, the run has ended, nobody waits any more, or a while has gone by. */
  async #waitFor(res: ServerResponse, owner: AgentSession, id: RunId, wait: "seen" | "answered"): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, WAIT_MS);
    res.once("close", resolve);
    let withdraw: () => void = resolve;
    this.#runtime
      .attach(id, (stop) => (withdraw = stop))
      .then(
        () => resolve(),
        () => resolve(),
      );
    const { end } = await this.#runtime.readStream({ owner, name: TRANSCRIPT }, Number.MAX_SAFE_INTEGER, 1);
    const watch =
      wait === "seen"
        ? this.#runtime.watchStream(
            { owner, name: TRANSCRIPT },
            end,
            (items) => {
              if (items.some((item) => isMessage(item, id))) resolve();
            },
            () => resolve(),
          )
        : undefined;
    if ((await this.#receiptNow(owner, id))[wait]) resolve(); // It came to pass before the watch began.
    await promise;
    clearTimeout(timer);
    watch?.close();
    withdraw();
  }
}

interface Answer {
  /** The message that is answered. */
  readonly run: RunId;
  /** The run with whose end there is no more to come. */
  readonly follows: RunId;
  /** Offset in `events`, not behind where the message was seen. */
  readonly from: number;
  readonly endsWithNext: boolean;
}

/** One answer over one connection. */
class AnswerStream {
  readonly #runtime: ServedRuntime;
  readonly #connection: SseConnection;
  readonly #owner: AgentSession;
  readonly #answer: Answer;
  readonly #chunks: AnswerChunks;
  #next: number;
  /** The run has ended: what there is of events ends here, and this is how. */
  #ending: { readonly at: number; readonly result: Result } | undefined = undefined;

  constructor(runtime: ServedRuntime, connection: SseConnection, owner: AgentSession, answer: Answer) {
    this.#runtime = runtime;
    this.#connection = connection;
    this.#owner = owner;
    this.#answer = answer;
    this.#next = answer.from;
    this.#chunks = new AnswerChunks(answer);
  }

  begin(): void {
    const stream = { owner: this.#owner, name: EVENTS };
    void this.#write(this.#chunks.start());
    const failed = (): void => this.#connection.cut(); // The reader comes back, and asks again.
    const watch = this.#runtime.watchStream(
      stream,
      this.#next,
      (items) => {
        const chunks = items.flatMap((item) => this.#chunks.feed(agentEvent(item)));
        this.#next = (items.at(-1)?.offset ?? this.#next - 1) + 1;
        const busy = this.#write(chunks);
        this.#endWhereOver();
        return busy;
      },
      failed,
    );
    this.#connection.onOver(() => watch.close());
    this.#runtime
      .attach(this.#answer.follows, (withdraw) => this.#connection.onOver(withdraw))
      .then(async (result) => {
        const { end } = await this.#runtime.readStream(stream, Number.MAX_SAFE_INTEGER, 1);
        this.#ending = { at: end, result };
        this.#endWhereOver();
      })
      .catch(failed);
  }

  #endWhereOver(): void {
    if (!this.#chunks.isOver && this.#ending !== undefined && this.#next >= this.#ending.at)
      void this.#write(this.#chunks.end(endOf(this.#ending.result)));
    if (this.#chunks.isOver) this.#connection.end(DONE);
  }

  #write(chunks: readonly AgentUIChunk[]): Promise<void> | undefined {
    if (chunks.length === 0) return undefined;
    return this.#connection.write(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(""));
  }
}

function endOf(result: Result): Parameters<AnswerChunks["end"]>[0] {
  switch (result.kind) {
    case "value":
      return { answer: JSON.parse(String(result.value)) as AgentAnswer };
    case "void":
      return { answer: undefined };
    case "failure":
      return { failure: result.failure };
  }
}
