// Agents
export { agent, type AgentDefinition, type AgentHandlers } from "./agent/agent.ts";
export type { AgentOptions, ContextOptions, TurnSoFar } from "./agent/definition.ts";
export { child, type Child, type ChildRef } from "./agent/children.ts";
export { EVENTS, type AgentEvent } from "./agent/events.ts";
export type { ArrivalHook } from "./agent/inbox.ts";
export { readMessage } from "./agent/messages.ts";
export type { AgentAnswer, AgentMessage, ChildNotice, MessagePolicy, Usage } from "./agent/messages.ts";
export {
  TRANSCRIPT,
  type AssistantItem,
  type CompactionItem,
  type DecisionItem,
  type MessageItem,
  type RestartItem,
  type ToolItem,
  type TranscriptItem,
} from "./agent/transcript.ts";
export type { AgentStatus, HistoryRange } from "./agent/views.ts";
export {
  serviceTool,
  type KeyedToolOptions,
  type OneWay,
  type ServiceToolInfo,
  type ServiceToolOptions,
  type Started,
} from "./tools/service-tool.ts";
export { mcpTools } from "#tool-sources";
export type { McpToolsOptions } from "./tools/mcp/mcp-tools.ts";
export type { HttpServer, McpServer } from "./tools/mcp/connection.ts";
export type { StdioServer } from "./tools/mcp/stdio-transport.ts";
export type { Offer, OfferedTool, ToolSource } from "./tools/tool-source.ts";
export { durable, type DurableOptions } from "./durable/durable.ts";
export { sessionOf, type ChildRecord, type Session } from "./agent/session-state.ts";
export { subagent, type SubagentOptions } from "./tools/subagent.ts";
export { tool, type AgentTool, type AnyTool, type DurableToolInfo, type ToolInfo, type Toolset } from "./tools/tool.ts";
export { models } from "#models";
export type { ModelsOptions } from "./models/models.ts";
export { hostModels } from "./models/host-models.ts";
export { hostSources } from "./tools/host-sources.ts";
export { modelsOf, provideModels, type Models } from "./models/of-context.ts";

export { ModelGateway, type GatewayFigures, type GatewayOptions } from "./models/gateway.ts";
export type {
  AttemptOutcome,
  AttemptRecord,
  GatewayPorts,
  ModelAnswer,
  ModelAttempt,
  ModelRequest,
  ModelTimeouts,
} from "./models/types.ts";
export { ModelError, type ModelErrorKind } from "./models/model-error.ts";
export { createModelResolver, providerIn, type ModelRef, type ProviderLike } from "./models/resolver.ts";
export type { Lane } from "./models/fair-queue.ts";
export type { LimiterFigures, LimitOptions } from "./models/limiter.ts";
export type { BreakerOptions, BreakerState } from "./models/breaker.ts";
export type { RetryOptions } from "./models/retry.ts";
export { type Cost, costOf, type ModelPrice, type PriceList } from "./models/prices.ts";
export {
  Bill,
  type BillLine,
  planReply,
  type Script,
  type ScriptedAnswer,
  type ScriptedError,
  type ScriptedFault,
  type ScriptedManner,
  type ScriptedMessage,
  type ScriptedPiece,
  type ScriptedPlan,
  type ScriptedRecording,
  type ScriptedRefusal,
  type ScriptedReply,
  type ScriptedRequest,
  type ScriptedToolCall,
  type ScriptedUsage,
  Sightings,
} from "./models/script.ts";
export { paceMs, type ScriptedModel, scriptedModel, type ScriptedModelOptions } from "./models/scripted-model.ts";

// The conversation as clients of the AI SDK have it
export { AnswerChunks, type AnswerOptions } from "./ui/answer-chunks.ts";
export { chatIdOf, readChatRequest, type ChatRequest } from "./ui/chat-message.ts";
export { uiMessagesOf } from "./ui/history.ts";
export {
  answerId,
  type AgentUIChunk,
  type AgentUIData,
  type AgentUIMessage,
  type AgentUIMetadata,
} from "./ui/types.ts";

// Approvals, the audit log, permissions, the switch for writes
export type { ApprovalHandlers } from "./approvals/approvals.ts";
export { approvals } from "./approvals/approvals.ts";
export { isApprovalId, newApprovalId } from "./approvals/approval-id.ts";
export type {
  ApprovalAnswer,
  ApprovalDecision,
  ApprovalRequest,
  ApprovalState,
  ApprovalView,
} from "./approvals/types.ts";
export { APPROVALS } from "./approvals/types.ts";
export { approversAt, questionOf, type Question } from "./approvals/question.ts";
export type { AuditHandlers } from "./audit/audit.ts";
export { audit, recordAudit } from "./audit/audit.ts";
export type { ChainCheck, ChainExpectations } from "./audit/chain.ts";
export { verifyChain } from "./audit/chain.ts";
export { exportAudit, parseAudit } from "./audit/export.ts";
export type { AuditEntry, AuditEvent, AuditHead, AuditPage, AuditRange } from "./audit/types.ts";
export { AUDIT, MAIN_CHAIN } from "./audit/types.ts";
export type {
  ControlHandlers,
  EffectiveWriteControl,
  Switches,
  WriteChange,
  WriteControl,
  WriteMode,
  WriteQuestion,
} from "./controls/controls.ts";
export { ALL_AGENTS, ALL_SWITCHES, CONTROLS, controls, SWITCHES, writeModeOf } from "./controls/controls.ts";
export type { Permissions } from "./permissions/permissions.ts";
export { decide, permissions, restrict } from "./permissions/permissions.ts";
export type {
  DecidedBy,
  InputPattern,
  PermissionAction,
  PermissionRule,
  ToolApproval,
  ToolCall,
  ToolKind,
  Verdict,
} from "./permissions/types.ts";

// Budgets: what a tree of agents may use.
export { budgets, type BudgetHandlers } from "./budget/budgets.ts";
export { BUDGETS } from "./budget/questions.ts";
export { estimateTokens, type EstimateOptions, type TokenEstimate } from "./budget/estimate.ts";
export { reserveBudget, type ActualUse, type BudgetLease, type CallEstimate, type TokenPrice } from "./budget/lease.ts";
export { budgetQuestions, type BudgetQuestionHandlers } from "./budget/questions.ts";
export type { BudgetLimits, BudgetRaise, BudgetStatus } from "./budget/types.ts";

// Schedules
export { schedule, type Schedule } from "./schedules/schedule.ts";
export { schedules, type ScheduleHandlers } from "./schedules/schedules.ts";
export {
  SCHEDULED_FOR_HEADER,
  SCHEDULE_HEADER,
  SCHEDULES,
  type CatchUp,
  type Overlap,
  type ScheduleRecord,
  type ScheduleSpec,
  type ScheduleStart,
  type ScheduleState,
  type ScheduleTarget,
  type ScheduleView,
} from "./schedules/types.ts";
export { specProblem } from "./schedules/spec.ts";
export { timingText, upcomingTimes } from "./schedules/times.ts";
