// Exit codes: what scripts can rely on. docs/cli.md and `perdure --help` show the same table.

export const EXIT = {
  ok: 0,
  /** The run failed, or what was asked for is not so (`doctor` found a failure, `result` has none yet). */
  failed: 1,
  usage: 2,
  unreachable: 3,
  notFound: 4,
  refused: 5,
  /** Given by bin/perdure.mjs, before anything is loaded. */
  nodeTooOld: 6,
  taken: 7,
  bug: 70,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export const EXIT_MEANINGS: readonly (readonly [ExitCode, string])[] = [
  [EXIT.ok, "it went well"],
  [EXIT.failed, "the run failed, or what was asked for is not so"],
  [EXIT.usage, "the command line is wrong"],
  [EXIT.unreachable, "no runtime can be reached"],
  [EXIT.notFound, "no such run, service, handler or file"],
  [EXIT.refused, "the runtime refused: a conflict, wrong input, missing credentials"],
  [EXIT.nodeTooOld, "this Node is too old"],
  [EXIT.taken, "the port or the data directory is taken"],
  [EXIT.bug, "an error in Perdure itself: please report it"],
  [EXIT.interrupted, "interrupted (Ctrl-C)"],
];
