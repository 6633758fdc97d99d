// The tool calls of one answer, side by side
// ==========================================
//   read ──▶ permitted? ──▶ asked ──▶ run ──▶ recorded          every way ends in one item of the transcript
//     │          │            │        │
//   error      denied   denied, or   error, or interrupted
//                       interrupted
//
// A call that fails is a result that the model sees; only a cancel, and an effect whose outcome is unknown, go beyond it.

import type { JSONValue, LanguageModelV4ToolCall } from "@ai-sdk/provider";
import { CancelledError, isPerdureError, type ObjectContext, type RetryOptions, type StepInfo } from "@perdure/sdk";
import { newApprovalId } from "../approvals/approval-id.ts";
import { approvals } from "../approvals/approvals.ts";
import type { ApprovalDecision } from "../approvals/types.ts";
import { writeModeOf } from "../controls/controls.ts";
import { decide, restrict } from "../permissions/permissions.ts";
import type { PermissionRule, Verdict } from "../permissions/types.ts";
import type { AnyTool, DurableToolInfo } from "../tools/tool.ts";
import { excerpt, textOf } from "./conversation.ts";
import type { AgentSpec } from "./definition.ts";
import { EVENTS, type AgentEvent } from "./events.ts";
import type { PreparedTools } from "./prepared-tools.ts";
import { TRANSCRIPT, type ToolItem, type TranscriptItem } from "./transcript.ts";

export interface ToolPhase {
  readonly ctx: ObjectContext;
  readonly spec: AgentSpec;
  readonly tools: PreparedTools;
  readonly budgets: readonly string[];
  /** Fires when the calls are to be cut short. */
  readonly signal: AbortSignal;
  /** Journals an event. */
  emit(event: AgentEvent): void;
  /** Appends to the transcript. */
  record(item: TranscriptItem): void;
  /** The step has appended it already. */
  recorded(item: TranscriptItem): void;
  child(child: Parameters<DurableToolInfo["child"]>[0], callId: string): void;
}

export async function runToolCalls(phase: ToolPhase, calls: readonly LanguageModelV4ToolCall[]): Promise<void> {
  const ends = await Promise.allSettled(calls.map((call) => runToolCall(phase, call)));
  // What goes beyond one call waits for the others: one may be starting a sub-agent just now, which a cancel has to reach.
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}

/** An excerpt of that length goes to watchers. */
const EVENT_CHARS_MAX = 2_000;
const DEFAULT_RETRY: RetryOptions = { initial: "500ms", maxAttempts: 3 };

type Outcome = ToolItem["outcome"];

async function runToolCall(phase: ToolPhase, call: LanguageModelV4ToolCall): Promise<void> {
  const prepared = phase.tools.find(call.toolName);
  if (prepared === undefined) {
    const names = phase.tools.names.join(", ");
    settle(phase, call, "error", `There is no tool "${call.toolName}". There are: ${names === "" ? "none" : names}.`);
    return;
  }
  const { tool } = prepared;
  let input = await prepared.read(call.input);
  if (!input.ok) {
    settle(phase, call, "error", `The input does not fit the tool's schema: ${input.problem}`);
    return;
  }
  const verdict = await permission(phase, call.toolName, tool, input.raw);
  if (verdict.action === "deny") {
    settle(phase, call, "denied", verdict.why);
    return;
  }
  if (verdict.action === "ask") {
    const decision = await askPerson(phase, call, tool, input.raw, verdict);
    if (decision === "interrupted") {
      settle(phase, call, "interrupted", "A message came before anybody had answered.");
      return;
    }
    if (decision.decision !== "approved") {
      settle(phase, call, "denied", denialOf(decision));
      return;
    }
    if (decision.input !== undefined) {
      input = await prepared.read(JSON.stringify(decision.input));
      if (!input.ok) {
        settle(phase, call, "error", `It was approved with another input, which does not fit: ${input.problem}`);
        return;
      }
    }
    // Days may have passed.
    const again = await permission(phase, call.toolName, tool, input.raw);
    if (again.action === "deny") {
      settle(phase, call, "denied", again.why);
      return;
    }
  }
  if (phase.signal.aborted) settle(phase, call, "interrupted", "A message came before it was begun.");
  else if (tool.run !== undefined) await runDurable(phase, call, tool, input.value);
  else await runStep(phase, call, tool, input.value);
}

async function permission(phase: ToolPhase, name: string, tool: AnyTool, input: JSONValue): Promise<Verdict> {
  const { ctx, spec } = phase;
  const { approval } = tool;
  const kind = tool.kind ?? "write";
  const asked = { tool: name, input, kind, ...(approval === undefined ? {} : { approval }) };
  const { writes } = spec.options;
  const verdict = decide(spec.permissions, asked, writes === undefined ? {} : { writes });
  if (kind === "read" || verdict.action === "deny") return verdict;
  return restrict(verdict, asked, await writeModeOf(ctx, spec.name, ctx.key));
}

// A person decides
// ----------------

async function askPerson(
  phase: ToolPhase,
  call: LanguageModelV4ToolCall,
  tool: AnyTool,
  input: JSONValue,
  verdict: Verdict,
): Promise<ApprovalDecision | "interrupted"> {
  const { ctx, spec, signal } = phase;
  if (signal.aborted) return "interrupted";
  const approval = await newApprovalId(ctx);
  const { toolCallId: callId, toolName } = call;
  const title = `${spec.name} wants to use ${toolName}: ${textOf(excerpt(input, 200))}`;
  phase.emit({ type: "approval-asked", approval, callId, title, tool: toolName, input });
  const pending = ctx.call(approvals, approval).run({
    kind: "tool",
    title,
    agent: spec.name,
    session: ctx.key,
    tool: toolName,
    input,
    details: { why: verdict.why },
    ...whoAnswers(tool, verdict.decided.by === "rule" ? verdict.decided.rule : undefined),
  });
  const decision = await interruptible(pending, signal).catch((error: unknown): ApprovalDecision => {
    if (isOwnCancel(ctx, error)) throw error;
    return { decision: "rejected", at: 0, comment: `the question was withdrawn (${(error as Error).message})` };
  });
  if (decision === undefined) {
    await pending.handle.cancel();
    return "interrupted";
  }
  const { by, comment } = decision;
  phase.emit({
    type: "approval-answered",
    approval,
    callId,
    decision: decision.decision,
    ...(by === undefined ? {} : { by }),
  });
  phase.record({
    type: "decision",
    approval,
    callId,
    decision: decision.decision,
    ...(by === undefined ? {} : { by }),
    ...(comment === undefined ? {} : { comment }),
    ...(decision.input === undefined ? {} : { input: decision.input as JSONValue }),
  });
  return decision;
}

/** What the rule says, else what the tool says. */
function whoAnswers(
  tool: AnyTool,
  rule: PermissionRule | undefined,
): Partial<Pick<AnyTool, "approvers" | "expires" | "escalate">> {
  const approvers = rule?.approvers ?? tool.approvers;
  const expires = rule?.expires ?? tool.expires;
  const escalate = rule?.escalate ?? tool.escalate;
  return {
    ...(approvers === undefined ? {} : { approvers }),
    ...(expires === undefined ? {} : { expires }),
    ...(escalate === undefined ? {} : { escalate }),
  };
}

function denialOf({ decision, by, comment }: ApprovalDecision): string {
  const who = decision === "expired" ? "Nobody answered in time" : `${by ?? "A person"} said no`;
  return comment === undefined ? `${who}.` : `${who}: ${comment}`;
}

/** The value, or undefined where the signal came first. */
async function interruptible<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  const interrupted = Promise.withResolvers<undefined>();
  const interrupt = (): void => interrupted.resolve(undefined);
  signal.addEventListener("abort", interrupt, { once: true });
  promise.catch(() => undefined); // Its failure is the cancel that follows an interruption.
  try {
    return await Promise.race([promise, interrupted.promise]);
  } finally {
    signal.removeEventListener("abort", interrupt);
  }
}

// Running
// -------

async function runStep(phase: ToolPhase, call: LanguageModelV4ToolCall, tool: AnyTool, input: unknown): Promise<void> {
  const { ctx } = phase;
  const { reconcile, timeout, atMostOnce } = tool;
  try {
    const item = await ctx.step(`tool ${call.toolName}`, (info) => execute(phase, call, tool, input, info), {
      retry: { ...(tool.retry ?? DEFAULT_RETRY), onExhausted: "throw" },
      into: TRANSCRIPT,
      ...(timeout === undefined ? {} : { timeout }),
      ...(atMostOnce === undefined ? {} : { atMostOnce }),
      ...(reconcile === undefined
        ? {}
        : {
            reconcile: async (info) => {
              const found = await reconcile(info);
              if (found === "unknown" || !found.happened) return found;
              return { happened: true, value: toolItem(call, "ok", jsonOf(found.value)) };
            },
          }),
    });
    phase.recorded(item);
  } catch (error) {
    settle(phase, call, "error", problemOf(ctx, error));
  }
}

async function execute(
  phase: ToolPhase,
  call: LanguageModelV4ToolCall,
  tool: AnyTool,
  input: unknown,
  info: StepInfo,
): Promise<ToolItem> {
  const events = info.stream<AgentEvent>(EVENTS);
  const { toolCallId: callId, toolName: name } = call;
  const { idempotencyKey, attempt } = info;
  const progress = (data: unknown): void => events.write({ type: "tool-progress", callId, data: jsonOf(data) });
  const abortSignal = AbortSignal.any([info.signal, phase.signal]);
  let item: ToolItem;
  try {
    const given = tool.execute?.(input, {
      toolCallId: callId,
      abortSignal,
      idempotencyKey,
      attempt,
      progress,
      messages: [],
    });
    item = toolItem(call, "ok", jsonOf(await lastOf(await given, progress)));
  } catch (error) {
    if (!phase.signal.aborted || info.signal.aborted) throw error;
    item = toolItem(call, "interrupted", "It was interrupted by a message.");
  }
  events.write(endEvent(callId, name, item.outcome, item.output));
  return item;
}

/** Tools of the AI SDK may yield what they have so far, and last their result. */
async function lastOf(value: unknown, progress: (data: unknown) => void): Promise<unknown> {
  if (typeof value !== "object" || value === null || !(Symbol.asyncIterator in value)) return value;
  let last: unknown = null;
  for await (const item of value as AsyncIterable<unknown>) progress((last = item));
  return last;
}

async function runDurable(
  phase: ToolPhase,
  call: LanguageModelV4ToolCall,
  tool: AnyTool,
  input: unknown,
): Promise<void> {
  const { ctx, spec, budgets, signal } = phase;
  try {
    const output: unknown = await tool.run?.(ctx, input, {
      toolCallId: call.toolCallId,
      abortSignal: signal,
      agent: spec.name,
      budgets,
      child: (child) => phase.child(child, call.toolCallId),
    });
    settle(phase, call, "ok", jsonOf(output));
  } catch (error) {
    if (signal.aborted && !isOwnCancel(ctx, error))
      settle(phase, call, "interrupted", "It was interrupted by a message.");
    else settle(phase, call, "error", problemOf(ctx, error));
  }
}

/** @throws what is no matter between the tool and the model: a cancel of this run, and what waits for a person. */
function problemOf(ctx: ObjectContext, error: unknown): string {
  if (isOwnCancel(ctx, error) || (isPerdureError(error) && error.retry === "pause")) throw error;
  return error instanceof Error ? error.message : String(error);
}

/** A child that somebody cancelled throws the same, and is no end of this run. */
function isOwnCancel(ctx: ObjectContext, error: unknown): boolean {
  return error instanceof CancelledError && ctx.abortSignal.aborted;
}

function settle(phase: ToolPhase, call: LanguageModelV4ToolCall, outcome: Outcome, output: JSONValue): void {
  phase.record(toolItem(call, outcome, output));
  phase.emit(endEvent(call.toolCallId, call.toolName, outcome, output));
}

function toolItem({ toolCallId, toolName }: LanguageModelV4ToolCall, outcome: Outcome, output: JSONValue): ToolItem {
  return { type: "tool", callId: toolCallId, name: toolName, outcome, output };
}

function endEvent(callId: string, name: string, outcome: Outcome, output: JSONValue): AgentEvent {
  const shown = excerpt(output, EVENT_CHARS_MAX);
  return {
    type: "tool-end",
    callId,
    name,
    outcome,
    output: shown,
    ...(shown === output ? {} : { excerpt: true as const }),
  };
}

/** As JSON gives it, so that live and replayed code see the same. */
function jsonOf(value: unknown): JSONValue {
  return value === undefined ? null : (JSON.parse(JSON.stringify(value) ?? "null") as JSONValue);
}
