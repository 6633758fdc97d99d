// SQL that a person wrote
// =======================
// What node:sqlite allows: a read-only connection, an authorizer, a row limit. What it does not: interrupting a
// statement. A worker thread that is inside SQLite cannot be terminated either, so the statement runs in a child process,
// which can be killed at any time: its locks go with it, and the thread of the loop is never held up.
//
// S1. One statement, and one that reads: it must begin as such, the connection is read-only, and an authorizer refuses
//     everything but reading (other files cannot be attached).

import { BadRequestError } from "@perdure/protocol";
import { fork } from "node:child_process";

export interface SqlRequest {
  readonly file: string;
  readonly query: string;
  readonly limit: number;
  readonly timeMsMax: number;
}

export interface SqlResult {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  readonly truncated: boolean;
}

export type SqlAnswer =
  | { readonly ok: true; readonly result: SqlResult }
  /** `position`: where in the statement it is wrong, as far as that is known. */
  | { readonly ok: false; readonly message: string; readonly position?: number };

/** Here and in the published package the script has different endings. */
const SCRIPT = new URL(import.meta.url.endsWith(".ts") ? "./sql-process.ts" : "./sql-process.js", import.meta.url);

/** @throws BadRequestError where it is not a single reading statement, fails, or takes too long. */
export async function runSql(request: SqlRequest): Promise<SqlResult> {
  const answer = await askProcess(request);
  if (answer.ok) return answer.result;
  const { message, position } = answer;
  throw new BadRequestError(message, position === undefined ? {} : { metadata: { position: String(position) } });
}

function askProcess(request: SqlRequest): Promise<SqlAnswer> {
  return new Promise((resolve) => {
    // No flags of the parent: they may name a debugger's port, or hooks that this script does not need.
    const child = fork(SCRIPT, {
      serialization: "advanced",
      execArgv: ["--max-old-space-size=512"],
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    const timer = setTimeout(
      () => finish({ ok: false, message: `the statement took longer than ${request.timeMsMax} ms and was stopped` }),
      request.timeMsMax,
    );
    const finish = (answer: SqlAnswer): void => {
      clearTimeout(timer);
      child.removeAllListeners();
      child.on("error", () => undefined);
      child.kill("SIGKILL");
      resolve(answer);
    };
    child.on("message", (answer) => finish(answer as SqlAnswer));
    child.on("error", (error) => finish({ ok: false, message: `the statement could not be run: ${error.message}` }));
    child.on("exit", () =>
      finish({ ok: false, message: "the statement ended the process that ran it, most likely for want of memory" }),
    );
    child.send(request, () => undefined);
  });
}
