// Errors of the command line itself, and what each error means for its exit code and its reader.

import { isPerdureError } from "@perdure/protocol";
import { EXIT, type ExitCode } from "./exit-codes.ts";

/** The command line is wrong in a way that its parser does not see. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly advice: string | undefined;
  constructor(message: string, advice?: string) {
    super(message);
    this.advice = advice;
  }
}

/** Ctrl-C. */
export class InterruptedError extends Error {
  override readonly name = "InterruptedError";
  constructor() {
    super("interrupted");
  }
}

/** The runtime answered with a failure. */
export class RefusedError extends Error {
  override readonly name = "RefusedError";
  /** HTTP status. */
  readonly status: number;
  /** Perdure's code, where it is one of ours. */
  readonly code: string | undefined;
  readonly metadata: Readonly<Record<string, string>> | undefined;
  constructor(status: number, message: string, code: string | undefined, metadata?: Readonly<Record<string, string>>) {
    super(message);
    this.status = status;
    this.code = code;
    this.metadata = metadata;
  }
}

interface ErrorNote {
  readonly exit: ExitCode;
  /** What to do. */
  readonly advice?: string;
}

const NOTES: Readonly<Record<string, ErrorNote>> = {
  P0020: { exit: EXIT.refused },
  P0021: { exit: EXIT.refused, advice: "mend the input; `perdure services --json` shows the schemas" },
  P0022: {
    exit: EXIT.refused,
    advice: "send less, or put the data where the handler can read it and send its address",
  },
  P0030: { exit: EXIT.notFound, advice: "`perdure services` lists what is served" },
  P0031: { exit: EXIT.notFound, advice: "`perdure runs` lists what is there" },
  P0032: { exit: EXIT.refused, advice: "try again in a moment, or raise --max-live" },
  P0033: { exit: EXIT.refused, advice: "`perdure show <run>` shows the state it is in" },
  P0034: { exit: EXIT.refused },
  P0035: { exit: EXIT.failed, advice: "wait for it with --wait" },
  P0036: { exit: EXIT.refused, advice: "pass --token, or set PERDURE_TOKEN" },
  P0037: { exit: EXIT.unreachable, advice: "try again in a moment" },
  P0040: { exit: EXIT.taken, advice: "stop the other process, or use another directory with --data" },
  P0041: { exit: EXIT.failed, advice: "`perdure export --data <dir>` writes out all that can be read" },
  P0042: { exit: EXIT.failed, advice: "update Perdure" },
  P0043: { exit: EXIT.refused, advice: "look at the disk (`perdure doctor`): is it full, may it be written to?" },
  P0050: { exit: EXIT.taken, advice: "stop who holds it, or choose other ports with --port and --admin-port" },
  P0051: { exit: EXIT.usage, advice: "pass --token (or PERDURE_TOKEN), or listen on 127.0.0.1" },
  P0052: { exit: EXIT.failed },
  P0053: {
    exit: EXIT.unreachable,
    advice: "start one (`perdure dev <files…>`), or name another with --admin or --url; `perdure doctor` looks around",
  },
  P0060: { exit: EXIT.usage },
  P0080: { exit: EXIT.notFound, advice: "`perdure approvals` lists those that are open" },
  P0081: { exit: EXIT.refused },
  P0082: { exit: EXIT.refused, advice: "say who you are with --as" },
};

const BY_STATUS: Readonly<Record<number, ExitCode>> = {
  404: EXIT.notFound,
  502: EXIT.unreachable,
  503: EXIT.unreachable,
  504: EXIT.unreachable,
};

export interface Explained {
  readonly exit: ExitCode;
  readonly message: string;
  readonly code: string | undefined;
  readonly status: number | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly advice: string | undefined;
  /** For bugs only: where it happened. */
  readonly stack: string | undefined;
}

export function explain(error: unknown): Explained {
  const base = { code: undefined, status: undefined, metadata: {}, advice: undefined, stack: undefined };
  if (error instanceof InterruptedError) return { ...base, exit: EXIT.interrupted, message: error.message };
  if (error instanceof UsageError) return { ...base, exit: EXIT.usage, message: error.message, advice: error.advice };
  if (error instanceof RefusedError || isPerdureError(error)) {
    const { message, code, status, metadata = {} } = error;
    const known = NOTES[code ?? ""];
    // A failed run's own error may carry any of our codes or none: it is refused where nothing says more.
    const exit = known?.exit ?? (error instanceof RefusedError ? (BY_STATUS[status] ?? EXIT.refused) : EXIT.failed);
    return { exit, message, code, status, metadata, advice: metadata["do"] ?? known?.advice, stack: undefined };
  }
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  return { ...base, exit: EXIT.bug, message, stack };
}
