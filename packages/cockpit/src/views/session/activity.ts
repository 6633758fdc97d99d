// What a session does right now, out of its events
// ================================================
// A1. Of a model call the newest try counts: what an earlier one said is superseded, and how often that was is known.
// A2. A call that is under way is forgotten with its turn; until then it is kept, for the transcript may be told later.
// A3. What has not changed is the same object in the next snapshot.

import type { InstantText, JsonValue, RunId } from "@perdure/protocol";
import type { SessionEvent, Stored, StreamPart, TurnEnd } from "./items.ts";

interface LivePart {
  readonly kind: "text" | "reasoning" | "tool";
  readonly id: string;
  /** Of a tool: its input, as far as it has come. */
  readonly text: string;
  /** Of a tool. */
  readonly name: string;
}

export interface LiveCall {
  readonly call: string;
  readonly attempt: string;
  readonly model: string;
  readonly at: InstantText;
  readonly parts: readonly LivePart[];
  /** `failed`: another try may follow. */
  readonly state: "speaking" | "settled" | "interrupted" | "failed";
  readonly error: string | null;
  /** Tries before this one. */
  readonly superseded: number;
}

export interface ChildLink {
  readonly agent: string;
  readonly session: string;
  readonly run: RunId;
  readonly name: string;
}

export interface Activity {
  /** The turn that works, as far as events tell. */
  readonly turn: RunId | null;
  /** Of the turn, in order. */
  readonly calls: readonly LiveCall[];
  readonly ends: readonly Stored<TurnEnd>[];
  /** By the tool call: what it reported last. */
  readonly progress: ReadonlyMap<string, JsonValue>;
  /** By the tool call: the approval that it asked for. */
  readonly approvals: ReadonlyMap<string, string>;
  readonly children: ReadonlyMap<string, ChildLink>;
}

export const NO_ACTIVITY: Activity = {
  turn: null,
  calls: [],
  ends: [],
  progress: new Map(),
  approvals: new Map(),
  children: new Map(),
};

export function withEvents(before: Activity, events: readonly Stored<SessionEvent>[]): Activity {
  return events.reduce(withEvent, before);
}

function withEvent(before: Activity, { offset, at, item }: Stored<SessionEvent>): Activity {
  switch (item.type) {
    case "turn-start":
      return { ...before, turn: item.turn, calls: [] };
    case "turn-end":
      return { ...before, turn: null, calls: [], ends: [...before.ends, { offset, at, item }] };
    case "call-start":
      return withCall(before, item.call, (known) => ({
        call: item.call,
        attempt: item.attempt,
        model: item.model,
        at,
        parts: [],
        state: "speaking",
        error: null,
        superseded: known === undefined ? 0 : known.superseded + 1,
      }));
    case "part":
      return withCall(before, item.call, (known) =>
        known?.attempt === item.attempt ? { ...known, parts: withPart(known.parts, item.part) } : known,
      );
    case "call-end":
      return withCall(before, item.call, (known) =>
        known?.attempt === item.attempt ? { ...known, state: item.outcome, error: item.error ?? null } : known,
      );
    case "tool-progress":
      return { ...before, progress: new Map(before.progress).set(item.callId, item.data) };
    case "tool-end":
      return { ...before, progress: without(before.progress, item.callId) };
    case "approval-asked":
      return { ...before, approvals: new Map(before.approvals).set(item.callId, item.approval) };
    case "approval-answered":
      return { ...before, approvals: without(before.approvals, item.callId) };
    case "child": {
      const link: ChildLink = { agent: item.agent, session: item.key, run: item.run, name: item.child };
      return { ...before, children: new Map(before.children).set(item.callId, link) };
    }
    default:
      return before; // The transcript, or the session's own view, tells of it.
  }
}

function without<T>(map: ReadonlyMap<string, T>, key: string): ReadonlyMap<string, T> {
  if (!map.has(key)) return map;
  const rest = new Map(map);
  rest.delete(key);
  return rest;
}

function withCall(
  before: Activity,
  call: string,
  change: (known: LiveCall | undefined) => LiveCall | undefined,
): Activity {
  const at = before.calls.findIndex((one) => one.call === call);
  const known = before.calls[at];
  const changed = change(known);
  if (changed === undefined || changed === known) return before;
  return { ...before, calls: known === undefined ? [...before.calls, changed] : before.calls.with(at, changed) };
}

function withPart(parts: readonly LivePart[], part: StreamPart): readonly LivePart[] {
  switch (part.type) {
    case "text-start":
    case "text-delta":
      return grown(parts, { kind: "text", id: part.id, name: "" }, part.type === "text-delta" ? part.delta : "");
    case "reasoning-start":
    case "reasoning-delta": {
      const text = part.type === "reasoning-delta" ? part.delta : "";
      return grown(parts, { kind: "reasoning", id: part.id, name: "" }, text);
    }
    case "tool-input-start":
      return grown(parts, { kind: "tool", id: part.id, name: part.toolName }, "");
    case "tool-input-delta":
      return grown(parts, { kind: "tool", id: part.id, name: "" }, part.delta);
    case "tool-call": {
      const whole: LivePart = { kind: "tool", id: part.toolCallId, name: part.toolName, text: part.input };
      const at = parts.findIndex(({ kind, id }) => kind === "tool" && id === part.toolCallId);
      return at < 0 ? [...parts, whole] : parts.with(at, whole);
    }
    default:
      return parts;
  }
}

function grown(parts: readonly LivePart[], begun: Omit<LivePart, "text">, delta: string): readonly LivePart[] {
  const at = parts.findLastIndex(({ kind, id }) => kind === begun.kind && id === begun.id);
  const known = parts[at];
  if (known === undefined) return [...parts, { ...begun, text: delta }];
  return delta === "" ? parts : parts.with(at, { ...known, text: known.text + delta });
}
