export { AssertionError, assert, unreachable } from "./assert.ts";
export type { Failure, Payload, Result } from "./payload.ts";
export { failureResult, payloadSize, valueResult, VOID } from "./payload.ts";
export type { AwakeableRef, RunId } from "./ids.ts";
export {
  CANCEL_SIGNAL,
  decodeRunId,
  encodeAwakeableId,
  encodeRunId,
  FIRST_AWAKEABLE_SIGNAL,
  parseAwakeableId,
  parseRunId,
} from "./ids.ts";
export type { DurationLike, DurationMs, Instant } from "./time.ts";
export { DURATION_MS_MAX, formatDuration, parseDuration } from "./time.ts";
export type {
  Awaiting,
  CallCommand,
  Command,
  CommandEntry,
  CommandType,
  CompletionEntry,
  Entry,
  Headers,
  NotificationEntry,
  QueuedMessage,
  QueueListing,
  ResumedEntry,
  RetryEntry,
  RunRef,
  SendCommand,
  SignalEntry,
  SignalName,
  StepCommand,
  StreamCommand,
  Target,
} from "./journal.ts";
export { ARRIVAL_SIGNAL, COMPLETABLE, FORK_SIGNAL, QUEUE_LISTED_MAX } from "./journal.ts";
export type {
  BulkMigrateAnswer,
  BulkMigrateRequest,
  DeploymentsAnswer,
  DeploymentView,
  Migrated,
  MigrateRequest,
  MigrationAbout,
  MigrationOutcome,
  MigrationReport,
  MigrationTold,
  SafePointMark,
} from "./migration.ts";
export { SAFE_POINT_PREFIX } from "./migration.ts";
export type { CancelState, ForkOrigin, HandlerMode, RetryState, Run, RunStatus, StreamTrim } from "./run.ts";
export { BUILT_IN_PREFIX, isFinished, RUN_STATUSES } from "./run.ts";
export type { Kept, StreamOwner, StreamRef } from "./streams.ts";
export { itemList, parseStream, streamOwner, streamText } from "./streams.ts";
export type { HandlerManifest, RetryPolicy, ServiceKind, ServiceManifest } from "./manifest.ts";
export { DEFAULT_RETRY } from "./manifest.ts";
export type {
  Attempt,
  AttemptFailure,
  AttemptOrigin,
  AttemptReplies,
  AttemptStart,
  Executor,
} from "./conversation.ts";
export { sha256 } from "./sha256.ts";
export type { HeapSummary, ImageInspection, ImageInspectionAnswer, PageCounts } from "./image-inspection.ts";
export type { CapturedImage, ImageInfo, StartImage } from "./image.ts";
export * from "./errors.ts";
export type {
  AgentForkRequest,
  AgentMessagePolicy,
  AgentMessageRequest,
  AgentRewindRequest,
  AgentsAnswer,
  AgentSessionsAnswer,
  AgentSessionsPage,
  AgentSessionSummary,
  AgentSessionView,
  AgentSummary,
  AgentUsageView,
  ApprovalAnswerRequest,
  ApprovalDecisionView,
  ApprovalPage,
  ApprovalSummary,
  AuditCheckAnswer,
  BudgetRaiseRequest,
  ControlChange,
  ControlsAnswer,
  ControlView,
  MessageReceipt,
  PendingMessage,
} from "./api-agents.ts";
export type {
  ActionAnswer,
  ApiError,
  ApiEvent,
  AwaitingView,
  BulkAction,
  BulkAnswer,
  BulkRequest,
  CommandView,
  EntryView,
  ErrorBody,
  HealthAnswer,
  InstantText,
  JournalPage,
  JsonValue,
  KeptView,
  PayloadView,
  RejectRequest,
  ResultView,
  RunDetail,
  RunFilterBody,
  RunPage,
  RunStreamsAnswer,
  RunSummary,
  RunView,
  SchedulePut,
  ScheduleStartView,
  ScheduleSummary,
  ScheduleTriggered,
  SchedulesPage,
  SendAnswer,
  ServicesAnswer,
  SettleRequest,
  SqlAnswer,
  StateEdit,
  StateKeysPage,
  StateView,
  StreamItemView,
  StreamPageAnswer,
  StreamReset,
  VersionAnswer,
  WaitView,
} from "./api.ts";
export type { ForkBody, MomentsAnswer, MomentView, RewindAnswer } from "./api-moments.ts";
