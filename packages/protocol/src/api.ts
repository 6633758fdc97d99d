// The JSON of the HTTP API: what the ingress and the admin surface answer, for the command line, the cockpit and clients
// ======================================================================================================================
// Instants are ISO 8601 texts in UTC (`2026-01-31T12:00:00.000Z`); durations are numbers of milliseconds (`…Ms`).
//
// A payload that is JSON text is shown as the value that it holds. Bytes are `{"base64": "…"}`. A payload that is longer
// than the asker wants to see is `{"omitted": <bytes>}`. Void and `null` are told apart by `ResultView.kind`.

import type { RunId } from "./ids.ts";
import type { CommandType, SignalName, Target } from "./journal.ts";
import type { ServiceManifest } from "./manifest.ts";
import type { Failure } from "./payload.ts";
import type { HandlerMode, RunStatus } from "./run.ts";
import type { StreamOwner } from "./streams.ts";

export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

/** ISO 8601, UTC, with milliseconds. */
export type InstantText = string;

/** Every answer with a status of 400 or more. */
export interface ErrorBody {
  readonly error: ApiError;
}

export interface ApiError {
  /** Stable: `P0021`. Its page is docs/errors/P0021.md. */
  readonly code: string;
  readonly message: string;
  /** The HTTP status. */
  readonly status: number;
  /** The run that the error is about. */
  readonly runId?: RunId;
  /** The place in the request or in the input that is wrong: `$.mail.to`. */
  readonly path?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

export type PayloadView = JsonValue;

export type ResultView =
  | { readonly kind: "value"; readonly value: PayloadView }
  | { readonly kind: "void" }
  | { readonly kind: "failure"; readonly failure: Failure };

export type AwaitingView =
  | { readonly kind: "completion"; readonly id: number }
  /** `awakeable`: the id to resolve, where the signal is one. */
  | { readonly kind: "signal"; readonly signal: SignalName; readonly awakeable?: string }
  | { readonly kind: "time"; readonly at: InstantText };

/** A run as lists show it: without its payloads. */
export interface RunSummary {
  readonly id: RunId;
  readonly seq: number;
  readonly service: string;
  readonly handler: string;
  readonly key: string | null;
  readonly mode: HandlerMode;
  readonly status: RunStatus;
  readonly idempotencyKey: string | null;
  readonly parent: { readonly runId: RunId; readonly command: number; readonly awaited: boolean } | null;
  /** A fork, or what a run was before it was rewound: entries up to `entry` are those of that run. */
  readonly forkedFrom: { readonly runId: RunId; readonly entry: number } | null;
  readonly deployment: string | null;
  readonly createdAt: InstantText;
  /** Last change of status. */
  readonly changedAt: InstantText;
  readonly scheduledAt: InstantText | null;
  readonly finishedAt: InstantText | null;
  /** How often it was restarted. */
  readonly generation: number;
  readonly retry: { readonly tries: number; readonly failure: Failure; readonly at: InstantText | null } | null;
  readonly awaiting: readonly AwaitingView[] | null;
  /** Why a person is needed (status `paused`). */
  readonly pausedBy: Failure | null;
  /** A cancel was accepted and first goes to these children. */
  readonly cancelling: { readonly waitingFor: readonly RunId[] } | null;
  /** How it failed, was cancelled or killed. */
  readonly failure: Failure | null;
}

export interface RunView extends RunSummary {
  readonly input: PayloadView;
  readonly headers: Readonly<Record<string, string>> | null;
  /** The safe point from which its code began, where it went over to other code. */
  readonly migrated?: { readonly point: string; readonly at: InstantText };
  /** It goes over to that deployment at its next safe point. */
  readonly migrating?: { readonly to: string | null };
  /** Once finished. */
  readonly result: ResultView | null;
}

export interface RunPage {
  readonly runs: readonly RunSummary[];
  /** For `?cursor=`; null: this is the last page. */
  readonly nextCursor: number | null;
}

/** One command, with its texts as they were journaled. What is not there does not belong to the type. */
export interface CommandView {
  readonly type: CommandType;
  readonly name?: string;
  readonly target?: Target;
  readonly input?: PayloadView;
  readonly headers?: Readonly<Record<string, string>>;
  readonly idempotencyKey?: string;
  /** State key, or the promise's name. */
  readonly key?: string;
  readonly value?: PayloadView;
  readonly wakeAt?: InstantText;
  readonly invokeAt?: InstantText;
  readonly atMostOnce?: true;
  /** The stream that a step's result goes into. */
  readonly into?: string;
  /** Name of a stream of the run's owner. */
  readonly stream?: string;
  /** Items that are appended. */
  readonly count?: number;
  readonly from?: number;
  readonly before?: number;
  readonly run?: RunId;
  readonly signal?: SignalName;
  readonly awakeable?: string;
  /** What a signal, promise or awakeable is given. */
  readonly completion?: ResultView;
  /** Whom an attach or output means. */
  readonly ref?:
    | { readonly run: RunId }
    | { readonly target: Target; readonly idempotencyKey: string }
    | { readonly workflow: string; readonly key: string };
}

export interface KeptView {
  readonly stream: string;
  readonly from: number;
  readonly count: number;
}

interface EntryHead {
  /** Position in the journal, from 1. */
  readonly index: number;
  readonly at: InstantText;
}

export type EntryView =
  | (EntryHead & {
      readonly kind: "command";
      readonly id: number;
      readonly command: CommandView;
      readonly child?: RunId;
      readonly result?: ResultView;
      /** The result stands in a stream. */
      readonly kept?: KeptView;
    })
  | (EntryHead & {
      readonly kind: "completion";
      readonly id: number;
      readonly result: ResultView;
      readonly kept?: KeptView;
    })
  | (EntryHead & {
      readonly kind: "signal";
      readonly signal: SignalName;
      readonly awakeable?: string;
      readonly payload: ResultView;
    })
  | (EntryHead & {
      readonly kind: "retry";
      readonly id: number;
      readonly tries: number;
      readonly failure: Failure;
      readonly retryAt?: InstantText;
    })
  | (EntryHead & {
      readonly kind: "resumed";
      readonly forget?: number;
      readonly migrated?: { readonly point: string; readonly from: string | null; readonly to: string | null };
    });

export interface JournalPage {
  readonly entries: readonly EntryView[];
  /** For `?after=`; null: this is the last page. */
  readonly nextAfter: number | null;
}

/** One thing that a run waits for, in words that a person can act on. */
export type WaitView =
  | { readonly kind: "timer"; readonly command: number; readonly name: string | null; readonly at: InstantText }
  | { readonly kind: "run"; readonly command: number; readonly runId: RunId; readonly target: Target }
  | { readonly kind: "step"; readonly command: number; readonly name: string }
  | { readonly kind: "promise"; readonly command: number; readonly name: string }
  | { readonly kind: "awakeable"; readonly id: string }
  | { readonly kind: "signal"; readonly signal: SignalName }
  | { readonly kind: "time"; readonly at: InstantText }
  | { readonly kind: "command"; readonly command: number; readonly type: CommandType | null };

export interface RunDetail {
  readonly run: RunView;
  /** An attempt of it is live in the server's process. */
  readonly live: boolean;
  /** What it waits for now; empty where it is executing, or has ended. */
  readonly waits: readonly WaitView[];
  /** Length of the journal. */
  readonly entries: number;
  /** Its first page. */
  readonly journal: JournalPage;
  /** The oldest of its children, by call and send. */
  readonly children: RunPage;
}

/** The answer to cancel, kill, pause, resume, restart, purge, signals and awakeables. */
export interface ActionAnswer {
  readonly runId: RunId;
  /** Status after it; null: the run is gone, or its status is not known here. */
  readonly status: RunStatus | null;
}

/** The answer to `/send`. */
export interface SendAnswer {
  readonly runId: RunId;
  readonly status: "accepted" | "previouslyAccepted";
}

/** One item of a stream, as pages and server-sent events tell of it. */
export interface StreamItemView {
  readonly offset: number;
  readonly at: InstantText;
  /** The try of a step that wrote it (`<command>.<try>`); null where a journal tells of it. */
  readonly writer: string | null;
  readonly item: JsonValue;
}

export interface StreamPageAnswer {
  readonly items: readonly StreamItemView[];
  /** The first offset that was not trimmed. */
  readonly start: number;
  /** The offset that the next item gets. */
  readonly end: number;
}

/** The streams that a run reads and writes by their names. */
export interface RunStreamsAnswer {
  /** A key, or the run where it has none. */
  readonly owner: StreamOwner;
  readonly streams: readonly { readonly name: string; readonly start: number; readonly end: number }[];
}

/**
 * What following a stream tells: items without `event:`, and `reset` where items were trimmed that the follower has not
 * seen. `id:` is the offset.
 */
export interface StreamReset {
  readonly start: number;
}

export interface RunFilterBody {
  readonly status?: readonly RunStatus[];
  readonly service?: string;
  readonly handler?: string;
  readonly key?: string;
  readonly createdAfter?: InstantText;
  readonly createdBefore?: InstantText;
  readonly parent?: RunId;
  /** `false` leaves out runs of the runtime's own services (`perdure.…`). */
  readonly builtIn?: boolean;
}

export type BulkAction = "cancel" | "kill" | "pause" | "resume";

export interface BulkRequest {
  readonly filter: RunFilterBody;
  /** Only count and list what would be done. */
  readonly dryRun?: boolean;
  /** An empty filter means every run: that has to be said. */
  readonly all?: boolean;
}

export interface BulkAnswer {
  readonly dryRun: boolean;
  /** Runs that the filter matches and that the action applies to. */
  readonly matched: number;
  readonly done: number;
  readonly failed: readonly { readonly runId: RunId; readonly code: string; readonly message: string }[];
  /** The first 1000 of the matched runs. */
  readonly runs: readonly RunId[];
}

/** `happened: false` runs the effect again. */
export type SettleRequest =
  | { readonly happened: true; readonly value?: JsonValue }
  | { readonly happened: false }
  | { readonly failure: { readonly message: string; readonly code?: number } };

export interface RejectRequest {
  readonly message?: string;
  /** 400 to 599; 500 where absent. */
  readonly code?: number;
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface ServicesAnswer {
  readonly services: readonly ServiceManifest[];
}

export interface StateKeysPage {
  readonly keys: readonly string[];
  readonly nextAfter: string | null;
}

export interface StateView {
  readonly service: string;
  readonly key: string;
  readonly state: Readonly<Record<string, PayloadView>>;
}

export interface StateEdit {
  /** Values, written as JSON. */
  readonly set?: Readonly<Record<string, JsonValue>>;
  /** Names. */
  readonly clear?: readonly string[];
  /** What has to be there still: where it is not, nothing is changed (409). */
  readonly expect?: {
    readonly values?: Readonly<Record<string, JsonValue>>;
    /** Names that have no value. */
    readonly absent?: readonly string[];
  };
  /** Also while a run has the key's turn; what that run holds in memory is not changed by it. */
  readonly force?: boolean;
}

/** What a schedule starts, as `GET /schedules` tells of it. */
export interface ScheduleSummary {
  readonly name: string;
  readonly paused: boolean;
  readonly timing:
    | { readonly kind: "cron"; readonly cron: string; readonly timeZone: string }
    | { readonly kind: "every"; readonly everyMs: number };
  /** `key` null with `keyPerStart`: each start has its own. */
  readonly target: { readonly service: string; readonly handler: string; readonly key: string | null };
  readonly keyPerStart: boolean;
  readonly input: JsonValue;
  readonly overlap: "skip" | "queue" | "parallel" | "cancel";
  readonly catchUp: "none" | "latest" | "all";
  readonly jitterMs: number;
  /** A module exports it: it is put again when the runtime starts. */
  readonly exported: boolean;
  /** The next times, jitter included; none while it is paused. */
  readonly next: readonly { readonly scheduledFor: InstantText; readonly at: InstantText }[];
  /** What became of the last times, newest first. */
  readonly history: readonly ScheduleStartView[];
}

export interface ScheduleStartView {
  readonly id: string;
  readonly scheduledFor: InstantText;
  readonly decidedAt: InstantText;
  readonly runId: RunId | null;
  /** Null: no run was started, or it is gone. */
  readonly status: RunStatus | null;
  /** `started`, `queued`, `withdrawn: …`, `skipped: …`, `failed: …`. */
  readonly outcome: string;
}

export interface SchedulesPage {
  readonly schedules: readonly ScheduleSummary[];
  /** For `?after=`; null: this is the last page. */
  readonly nextAfter: string | null;
  /** Something that is served has schedules, so that others can be added. */
  readonly served: boolean;
}

/** Either `cron` (with `timeZone`) or `every`. */
export interface SchedulePut {
  readonly cron?: string;
  readonly timeZone?: string;
  readonly every?: string | number;
  readonly target: {
    readonly service: string;
    readonly handler: string;
    readonly key?: string;
    readonly keyPerStart?: boolean;
  };
  readonly input?: JsonValue;
  readonly overlap?: ScheduleSummary["overlap"];
  readonly catchUp?: ScheduleSummary["catchUp"];
  readonly jitter?: string | number;
  readonly paused?: boolean;
}

/** The answer to `POST /schedules/{name}/trigger`. */
export interface ScheduleTriggered {
  readonly runId: RunId | null;
  readonly outcome: string;
}

export interface SqlAnswer {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly JsonValue[])[];
  /** There are more rows than the limit. */
  readonly truncated: boolean;
}

export interface HealthAnswer {
  readonly status: "ok" | "starting" | "draining";
}

export interface VersionAnswer {
  readonly version: string;
  readonly node: string;
  readonly startedAt: InstantText;
  readonly deployment: string | null;
}

/**
 * What `GET /events` tells, as `event: <type>` and `data: <the rest>`. `id:` is the change's number, for `Last-Event-ID`.
 * `reset`: changes were missed for good, read anew. `overflow`: the reader was too slow and is disconnected; it may come
 * back with the last id that it saw.
 */
export type ApiEvent =
  | { readonly type: "run"; readonly at: InstantText; readonly created: boolean; readonly run: RunSummary }
  | { readonly type: "entry"; readonly at: InstantText; readonly runId: RunId; readonly entry: EntryView }
  | { readonly type: "promoted"; readonly at: InstantText; readonly runId: RunId }
  | { readonly type: "deleted"; readonly at: InstantText; readonly runId: RunId }
  | { readonly type: "truncated"; readonly at: InstantText; readonly runId: RunId; readonly from: number }
  /** The run has a new image at an entry, or the one that it has there got a name, or lost it (`name` null). */
  | {
      readonly type: "moment";
      readonly at: InstantText;
      readonly runId: RunId;
      readonly entry: number;
      readonly name: string | null;
    }
  /** `name` null: the whole state of the key was cleared. */
  | {
      readonly type: "state";
      readonly at: InstantText;
      readonly service: string;
      readonly key: string;
      readonly name: string | null;
    }
  | {
      readonly type: "promise";
      readonly at: InstantText;
      readonly service: string;
      readonly key: string;
      readonly name: string;
    }
  | { readonly type: "reset"; readonly last: string }
  | { readonly type: "overflow"; readonly message: string };
