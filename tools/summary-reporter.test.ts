import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, describe, expect, test } from "vitest";

import { countResults, summaryLine } from "./summary-reporter.ts";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** Inside the repository, so that its tests find Vitest. */
const folder = mkdtempSync(join(root, "node_modules", "summary-reporter-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

writeFileSync(
  join(folder, "vitest.config.ts"),
  `import { SummaryReporter } from "${join(root, "tools", "summary-reporter.ts")}";
   const reporter = new SummaryReporter({ failedChecks: Number(process.env.FAILED_CHECKS ?? 0) });
   export default { test: { reporters: ["default", reporter], include: ["*.test.js"], exclude: [] } };`,
);

/** A whole run of Vitest on one test file: its exit code and its last line. */
function runOf(
  body: string,
  env: Readonly<Record<string, string>> = {},
): { code: number | null; last: string | undefined } {
  writeFileSync(join(folder, "a.test.js"), `import { beforeAll, describe, expect, test } from "vitest";\n${body}`);
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  const { VITEST: _, VITEST_WORKER_ID: __, VITEST_POOL_ID: ___, ...outer } = process.env;
  const options = { cwd: folder, env: { ...outer, ...env }, encoding: "utf8" } as const;
  const { status, stdout } = spawnSync(process.execPath, [vitest, "run", "--root", folder], options);
  return { code: status, last: stdout.trimEnd().split("\n").at(-1) };
}

describe("summary", { timeout: 60_000 }, () => {
  test("R1: single tests are counted", () => {
    const body = 'test("a", () => {}); test("b", () => {}); test.skip("c", () => {}); test.todo("d");';
    expect(runOf(body)).toEqual({ code: 0, last: "2 passed, 0 failed, 2 skipped" });
  });

  test("R1: a failing test and a throwing hook count", () => {
    const body = `
      test("a", () => expect(1).toBe(2));
      describe("s", () => { beforeAll(() => { throw new Error("hook"); }); test("b", () => {}); });`;
    expect(runOf(body)).toEqual({ code: 1, last: "0 passed, 2 failed, 1 skipped" });
  });

  test("R1: a file that cannot be collected counts", () => {
    expect(runOf('throw new Error("collect");')).toEqual({ code: 1, last: "0 passed, 1 failed, 0 skipped" });
  });

  test("R1: an error that nobody handled counts", () => {
    const body =
      'test("a", async () => { Promise.reject(new Error("stray")); await new Promise((r) => setTimeout(r, 50)); });';
    expect(runOf(body)).toEqual({ code: 1, last: "1 passed, 1 failed, 0 skipped" });
  });

  test("R1, R3: a check that failed before the tests counts", () => {
    const run = runOf('test("a", () => {});', { FAILED_CHECKS: "2" });
    expect(run).toEqual({ code: 1, last: "1 passed, 2 failed, 0 skipped" });
  });

  test("R2: a test that never ended has failed", () => {
    const pending = { result: () => ({ state: "pending", errors: undefined }) as const };
    const module = { children: { allTests: () => [pending], allSuites: () => [] }, errors: () => [] };
    expect(summaryLine(countResults([module], 0))).toBe("0 passed, 1 failed, 0 skipped");
  });
});
