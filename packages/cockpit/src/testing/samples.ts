// Records as the API tells them, for tests.

import { encodeRunId, type ApprovalSummary, type EntryView, type RunId, type RunSummary } from "@perdure/protocol";

const START = Date.UTC(2026, 0, 31, 12);

/** Milliseconds after a common beginning, as the API writes it. */
export function at(ms: number): string {
  return new Date(START + ms).toISOString();
}

export function runId(number: number): RunId {
  const bytes = new Uint8Array(24);
  new DataView(bytes.buffer).setUint32(20, number);
  return encodeRunId(bytes);
}

export function aRun(seq: number, change: Partial<RunSummary> = {}): RunSummary {
  return {
    id: runId(seq),
    seq,
    service: "mailer",
    handler: "send",
    key: null,
    mode: "service",
    status: "running",
    idempotencyKey: null,
    parent: null,
    forkedFrom: null,
    deployment: null,
    createdAt: at(seq),
    changedAt: at(seq),
    scheduledAt: null,
    finishedAt: null,
    generation: 0,
    retry: null,
    awaiting: null,
    pausedBy: null,
    cancelling: null,
    failure: null,
    ...change,
  };
}

type CommandEntry = Extract<EntryView, { kind: "command" }>;

export function aStep(index: number, ms: number, change: Partial<CommandEntry> = {}): CommandEntry {
  const command = { type: "step", name: `step ${index}` } as const;
  return { kind: "command", index, id: index, at: at(ms), command, ...change };
}

export const VALUE = { kind: "value", value: 1 } as const;

export function anApproval(change: Partial<ApprovalSummary> = {}): ApprovalSummary {
  return {
    id: "a",
    state: "open",
    kind: "tool",
    title: "Send it?",
    agent: null,
    session: null,
    tool: null,
    input: null,
    approvers: null,
    askedAt: at(0),
    ageMs: 0,
    expiresAt: null,
    runId: runId(9_000),
    askedBy: null,
    details: null,
    decision: null,
    ...change,
  };
}
