import { defaultServerConditions } from "vite";
import { defineConfig } from "vitest/config";

import { SummaryReporter } from "./tools/summary-reporter.ts";

// The layers. Tests run on sources, without a build: workspaces resolve by the condition "perdure-source".
//
//   unit      beside the source, and the house rules in tools/
//   contract  *.contract.test.ts: one port's contract suite on one implementation
//   sim       the simulator's tests and its fixed seeds
//   e2e       packages/*/test and examples/*/test: several packages, real processes
//   browser   packages/cockpit/test/browser: the cockpit in a real browser, over a real server
const conditions = ["perdure-source", ...defaultServerConditions];
const BROWSER_TESTS = "packages/cockpit/test/browser/**/*.test.ts";
const never = ["**/node_modules/**", "**/dist/**"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    environment: "node",
    maxWorkers: 2, // By default one on two cores, which then wait for the processes that tests start.
    reporters: ["default", new SummaryReporter({ failedChecks: Number(process.env["PERDURE_FAILED_CHECKS"] ?? 0) })],
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["packages/*/src/**/*.test.{ts,tsx}", "tools/**/*.test.ts"],
          exclude: [...never, "packages/sim/**", "**/*.contract.test.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "contract",
          include: ["packages/*/src/**/*.contract.test.ts"],
          exclude: [...never, "packages/sim/**"],
          testTimeout: 30_000,
        },
      },
      {
        extends: true,
        test: { name: "sim", include: ["packages/sim/**/*.test.ts"], exclude: never, testTimeout: 120_000 },
      },
      {
        extends: true,
        test: {
          name: "e2e",
          include: ["packages/*/test/**/*.test.ts", "examples/*/test/**/*.test.ts"],
          exclude: [...never, "packages/sim/**", BROWSER_TESTS],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: "browser",
          include: [BROWSER_TESTS],
          exclude: never,
          globalSetup: "packages/cockpit/test/support/global-setup.ts",
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
