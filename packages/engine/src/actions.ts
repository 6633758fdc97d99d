// Actions: what the loop does once the commit has made it true
// ============================================================
// Every action can be derived again from stored state at start-up: runs in status `running` are started, entries are in
// the journal that a start loads, timers are in the store, and askers ask again. So a crash between commit and act is safe.

import type { Entry, Instant, Result, Run, RunId } from "@perdure/protocol";
import type { Reply, Ticket } from "./events.ts";

export type Action =
  /** `fresh`: the run was created in this batch, its journal is empty. */
  | { readonly type: "launch"; readonly run: Run; readonly attempt: number; readonly fresh: boolean }
  /** The run wants an attempt and there is no room now. */
  | { readonly type: "ready"; readonly run: RunId }
  | { readonly type: "notify"; readonly run: RunId; readonly attempt: number; readonly entry: Entry }
  /** The attempt has ended by its own word. */
  | { readonly type: "release"; readonly run: RunId }
  | { readonly type: "abort"; readonly run: RunId; readonly reason: string }
  | { readonly type: "reply"; readonly ticket: Ticket; readonly reply: Reply }
  | { readonly type: "watch"; readonly ticket: Ticket; readonly run: RunId; readonly existing: boolean }
  | { readonly type: "finished"; readonly run: RunId; readonly result: Result }
  /** A run that is to be migrated has come to a safe point, or waits. */
  | { readonly type: "mayMigrate"; readonly run: RunId }
  /** An image is of no use, and was dropped. */
  | { readonly type: "imageLost"; readonly run: RunId; readonly entry: number; readonly reason: string }
  | { readonly type: "arm"; readonly at: Instant }
  | { readonly type: "retentionPage"; readonly lastSeq: number | null };
