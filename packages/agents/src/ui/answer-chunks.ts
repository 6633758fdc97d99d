// The answer to one message as a UI message stream: agent events in, chunks of the AI SDK out
// ===========================================================================================
//   waiting ─▶ telling ─▶ over
//
// Waiting: for the event that says that the agent has seen the message. Over: with the turn, with the next message of the
// chat (which has an answer of its own), or where the run ended without a word (`end`).
//
// A1. The chunks follow from the events alone: whoever is told the answer again, is told the same.
// A2. Every answer has one `start`, first, and one of `finish`, `abort` or `error` at its end; `abort` is followed by a
//     `finish` that tells clients not to go on by themselves.

import type { Failure } from "@perdure/protocol";
import type { RunId } from "@perdure/sdk";
import type { AgentEvent } from "../agent/events.ts";
import type { AgentAnswer } from "../agent/messages.ts";
import { CallChunks } from "./call-chunks.ts";
import { chatIdOf } from "./chat-message.ts";
import { asText } from "./parts.ts";
import { answerId, type AgentUIChunk, type AgentUIData, type AgentUIMetadata } from "./types.ts";

export interface AnswerOptions {
  /** The message that is answered. */
  readonly run: RunId;
  /** The next message of the chat ends it. Else that stands in it, and it goes on to the turn's end. */
  readonly endsWithNext: boolean;
}

type State = "waiting" | "telling" | "over";
type MessageEvent = Extract<AgentEvent, { type: "message" }>;
type TurnEnd = Extract<AgentEvent, { type: "turn-end" }>;

export class AnswerChunks {
  readonly #run: RunId;
  readonly #endsWithNext: boolean;
  #state: State = "waiting";
  #turn: RunId | undefined = undefined;
  #call: CallChunks | undefined = undefined;
  readonly #tools: Set<string> = new Set();
  readonly #approvals: Map<string, AgentUIData["approval"]> = new Map();

  constructor({ run, endsWithNext }: AnswerOptions) {
    this.#run = run;
    this.#endsWithNext = endsWithNext;
  }

  get isOver(): boolean {
    return this.#state === "over";
  }

  start(): AgentUIChunk[] {
    return [
      { type: "start", messageId: answerId(this.#run), messageMetadata: { run: this.#run } },
      { type: "data-receipt", id: this.#run, data: { run: this.#run, state: "accepted" } },
    ];
  }

  feed(event: AgentEvent): AgentUIChunk[] {
    if (event.type === "turn-start") this.#turn = event.turn;
    switch (this.#state) {
      case "waiting":
        return this.#wait(event);
      case "telling":
        return this.#tell(event);
      case "over":
        return [];
    }
  }

  /** The message's run has ended, and there are no more events of it. */
  end(result: { readonly answer: AgentAnswer | undefined } | { readonly failure: Failure }): AgentUIChunk[] {
    if (this.#state === "over") return [];
    const wasTold = this.#state === "telling";
    const chunks = this.#close();
    if ("failure" in result) {
      const { failure } = result;
      const metadata = this.#metadata({ reason: failure.code === CANCELLED_STATUS ? "cancelled" : "failed" });
      if (failure.code !== CANCELLED_STATUS)
        return [
          ...chunks,
          { type: "message-metadata", messageMetadata: metadata },
          { type: "error", errorText: failure.message },
        ];
      return [...chunks, { type: "abort", reason: failure.message }, interrupted(metadata)];
    }
    const { answer } = result;
    if (answer !== undefined && !wasTold) chunks.push(...told(answer));
    const metadata = answer === undefined ? {} : { turn: answer.turn, usage: answer.usage, reason: answer.reason };
    return [...chunks, { type: "finish", finishReason: "stop", messageMetadata: this.#metadata(metadata) }];
  }

  #wait(event: AgentEvent): AgentUIChunk[] {
    if (event.type === "message" && event.id === this.#run) return this.#seen();
    // Its own turn works without having seen it: a turn that was killed had, and this one goes on from there.
    if (event.type === "call-start" && this.#turn === this.#run) return [...this.#seen(), ...this.#tell(event)];
    return [];
  }

  #seen(): AgentUIChunk[] {
    this.#state = "telling";
    return [
      { type: "data-receipt", id: this.#run, data: { run: this.#run, state: "seen" } },
      { type: "message-metadata", messageMetadata: this.#metadata({}) },
    ];
  }

  #tell(event: AgentEvent): AgentUIChunk[] {
    switch (event.type) {
      case "turn-start":
        return [{ type: "message-metadata", messageMetadata: this.#metadata({}) }]; // Another run takes the message over.
      case "message":
        return this.#message(event);
      case "call-start":
        return this.#callStart(event);
      case "part": {
        if (event.part.type === "tool-call") this.#tools.add(event.part.toolCallId);
        return this.#call?.call === event.call ? this.#call.part(event.part) : [];
      }
      case "call-end":
        return this.#call?.call === event.call ? this.#call.end(event) : [];
      case "tool-progress": {
        const { callId, data: progress } = event;
        return [{ type: "data-tool-progress", id: callId, data: { callId, progress } }];
      }
      case "tool-end":
        return this.#toolEnd(event);
      case "approval-asked":
      case "approval-answered":
        return this.#approval(event);
      case "child": {
        const { child: name, agent, key, run, callId } = event;
        return [{ type: "data-child", id: run, data: { name, agent, key, run, callId } }];
      }
      case "budget-soft":
        return [{ type: "data-budget", data: { budgets: event.budgets } }];
      case "compaction":
        return [{ type: "data-compaction", data: { upTo: event.upTo } }];
      case "restart":
        return [...this.#cutCall(), { type: "data-restart", data: { restarted: true } }];
      case "turn-end":
        return this.#turnEnd(event);
    }
  }

  #message({ id, text, data, from }: MessageEvent): AgentUIChunk[] {
    if (this.#endsWithNext && chatIdOf(data) !== undefined) {
      const chunks = this.#close();
      return [
        ...chunks,
        { type: "finish", finishReason: "other", messageMetadata: this.#metadata({ reason: "continued" }) },
      ];
    }
    const said = from === undefined ? text : `[${from}]\n${text}`;
    return [
      { type: "steering-message", id: chatIdOf(data) ?? id, parts: [{ type: "text", text: said }] },
      { type: "data-receipt", id, data: { run: id, state: "seen" } },
    ];
  }

  #callStart(event: Extract<AgentEvent, { type: "call-start" }>): AgentUIChunk[] {
    if (this.#call?.call === event.call) return this.#call.start(event);
    const chunks = this.#cutCall();
    this.#call = new CallChunks(event.call);
    return [...chunks, ...this.#call.start(event)];
  }

  #toolEnd({ callId, name, outcome, output, excerpt }: Extract<AgentEvent, { type: "tool-end" }>): AgentUIChunk[] {
    const chunks = this.#known(callId, name);
    if (outcome !== "ok")
      return [...chunks, { type: "tool-output-error", toolCallId: callId, errorText: asText(output) }];
    const marks = excerpt === true ? { toolMetadata: { excerpt } } : {};
    return [...chunks, { type: "tool-output-available", toolCallId: callId, output, ...marks }];
  }

  #approval(event: Extract<AgentEvent, { type: "approval-asked" | "approval-answered" }>): AgentUIChunk[] {
    const { approval: id, callId } = event;
    if (event.type === "approval-asked") {
      const { title, tool, input } = event;
      const data = { approval: id, callId, title, tool, input, state: "open" as const };
      this.#approvals.set(id, data);
      return [{ type: "data-approval", id, data }];
    }
    const asked = this.#approvals.get(id);
    if (asked === undefined) return [];
    const by = event.by === undefined ? {} : { by: event.by };
    return [{ type: "data-approval", id, data: { ...asked, state: event.decision, ...by } }];
  }

  /** Clients take a result only for a call that they know: a turn may go on with calls of one that was killed. */
  #known(callId: string, name: string): AgentUIChunk[] {
    if (this.#tools.has(callId)) return [];
    this.#tools.add(callId);
    return [{ type: "tool-input-available", toolCallId: callId, toolName: name, input: undefined }];
  }

  #turnEnd({ turn, reason, usage, error }: TurnEnd): AgentUIChunk[] {
    this.#turn = turn;
    const chunks = this.#close();
    const metadata = this.#metadata({ reason, usage });
    switch (reason) {
      case "answered":
      case "restarted":
        return [...chunks, { type: "finish", finishReason: "stop", messageMetadata: metadata }];
      case "steps":
        return [...chunks, { type: "finish", finishReason: "tool-calls", messageMetadata: metadata }];
      case "stopped":
      case "cancelled":
        return [...chunks, { type: "abort", reason: error ?? reason }, interrupted(metadata)];
      case "failed":
        return [
          ...chunks,
          { type: "message-metadata", messageMetadata: metadata },
          { type: "error", errorText: error ?? "the turn failed" },
        ];
    }
  }

  #close(): AgentUIChunk[] {
    this.#state = "over";
    return this.#cutCall();
  }

  #cutCall(): AgentUIChunk[] {
    const chunks = this.#call?.cut() ?? [];
    this.#call = undefined;
    return chunks;
  }

  #metadata(more: Partial<AgentUIMetadata>): AgentUIMetadata {
    return { run: this.#run, ...(this.#turn === undefined ? {} : { turn: this.#turn }), ...more };
  }
}

/** The failure code of a run that was cancelled or killed. */
const CANCELLED_STATUS = 409;

function interrupted(messageMetadata: AgentUIMetadata): AgentUIChunk {
  return { type: "finish", finishReason: "interrupted", messageMetadata };
}

/** Of an answer whose events have gone there is the text. */
function told({ text, turn }: AgentAnswer): AgentUIChunk[] {
  const id = `${turn}.text`;
  return [
    { type: "start-step" },
    { type: "text-start", id },
    { type: "text-delta", id, delta: text },
    { type: "text-end", id },
    { type: "finish-step" },
  ];
}
