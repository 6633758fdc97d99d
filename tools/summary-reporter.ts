// Summary reporter
// ================
// The last line of a test run, alone on its line, for people and for scripts:
//
//   N passed, N failed, N skipped
//
// R1. It counts single tests. What fails without being a test counts as one failure each: a file that cannot be
//     collected, a suite whose hook throws, an error that nobody handled, a check that failed before the tests began.
// R2. A test that never reached an end (a dead worker, an interrupt) has failed.
// R3. If anything failed, the exit code is not 0.

import type { Reporter, SerializedError, TestCase, TestModule, TestRunEndReason, TestSuite } from "vitest/node";

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** The parts of Vitest's result that are counted; structural, so that tests can make them. */
export interface CountedModule {
  readonly children: {
    allTests(): Iterable<Pick<TestCase, "result">>;
    allSuites(): Iterable<Pick<TestSuite, "errors">>;
  };
  errors(): readonly unknown[];
}

export function countResults(modules: Iterable<CountedModule>, otherFailures: number): Counts {
  const counts = { passed: 0, failed: otherFailures, skipped: 0 };
  for (const module of modules) {
    counts.failed += module.errors().length;
    for (const suite of module.children.allSuites()) counts.failed += suite.errors().length;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      counts[state === "pending" ? "failed" : state] += 1; // R2
    }
  }
  return counts;
}

export function summaryLine(counts: Counts): string {
  return `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`;
}

export interface SummaryReporterOptions {
  /** Checks that ran before the tests (types, lint) and failed. */
  readonly failedChecks: number;
}

export class SummaryReporter implements Reporter {
  readonly #failedChecks: number;
  #isWatching = false;
  #counts: Counts | undefined;

  constructor(options: SummaryReporterOptions) {
    this.#failedChecks = options.failedChecks;
    // Printed when the process ends, since Vitest itself still speaks after its reporters have had their turn.
    process.once("exit", () => this.#print());
  }

  onWatcherStart(): void {
    this.#isWatching = true;
    this.#print();
  }

  onTestRunEnd(
    modules: readonly TestModule[],
    unhandledErrors: readonly SerializedError[],
    reason: TestRunEndReason,
  ): void {
    const interrupted = reason === "interrupted" ? 1 : 0;
    this.#counts = countResults(modules, this.#failedChecks + unhandledErrors.length + interrupted);
    if (this.#isWatching) this.#print();
  }

  #print(): void {
    if (this.#counts === undefined) return;
    if (this.#counts.failed > 0 && (process.exitCode ?? 0) === 0) process.exitCode = 1; // R3
    process.stdout.write(`${summaryLine(this.#counts)}\n`);
    this.#counts = undefined;
  }
}
