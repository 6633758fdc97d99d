// npm run sim -- --seed N [--executor script|sdk|snapshot|agents] [--verbose]        one world
// npm run sim -- --seeds N [--from N] [--executor script|sdk|snapshot|agents|all]     many fresh ones
// npm run sim -- --long [--minutes N] [--executor script|sdk|snapshot|agents|all]     as many as fit

import { parseArgs } from "node:util";
import type { Violation } from "./observations.ts";
import { WORLD_KINDS, type WorldKind } from "./parameters.ts";
import { runWorld, type WorldReport } from "./world.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    seeds: { type: "string", default: "200" },
    from: { type: "string" },
    executor: { type: "string" },
    verbose: { type: "boolean", default: false },
    long: { type: "boolean", default: false },
    minutes: { type: "string", default: "10" },
  },
});

type Kind = WorldKind;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function repeatCommand(seed: number, executor: Kind): string {
  return `npm run sim -- --seed ${seed} --executor ${executor} --verbose`;
}

function describe(report: WorldReport): string {
  const ok = report.violations.length === 0;
  return `${ok ? "OK" : "FAILED"} ${report.faultTicks}+${report.healTicks} ticks, ${report.events} events, ${report.settled}/${report.runs} runs settled, ${report.entries} entries, journal hash ${report.journalHash}`;
}

function sayViolations(violations: readonly Violation[]): void {
  for (const { promise, text } of violations) say(`  ${promise}: ${text}`);
}

async function one(seed: number, executor: Kind): Promise<boolean> {
  const report = await runWorld({ seed, executor, ...(values.verbose ? { trace: say } : {}) });
  if (!values.verbose) say(report.parameters); // A trace begins with them.
  sayViolations(report.violations);
  say(describe(report));
  return report.violations.length === 0;
}

async function many(from: number, goesOn: (done: number) => boolean, executors: readonly Kind[]): Promise<boolean> {
  const failed: { readonly seed: number; readonly executor: Kind }[] = [];
  const began = performance.now();
  let [done, entries] = [0, 0];
  for (; goesOn(done); done += 1) {
    const seed = from + done;
    const executor = executors[done % executors.length] ?? "script";
    const report = await runWorld({ seed, executor, impatient: true });
    entries += report.entries;
    if (report.violations.length > 0) {
      failed.push({ seed, executor });
      const first = report.violations[0];
      say(
        `FAILED seed ${seed}: ${first?.promise}: ${first?.text.split("\n").slice(0, 6).join("\n")}\n  repeat with: ${repeatCommand(seed, executor)}`,
      );
    }
    if (process.stdout.isTTY && done % 50 === 49)
      process.stdout.write(`\r${done + 1} worlds, ${failed.length} failed `);
  }
  const seconds = (performance.now() - began) / 1_000;
  say(
    `${failed.length === 0 ? "OK" : "FAILED"} ${done} worlds from seed ${from}, ${failed.length} failed, ${entries} entries, ${seconds.toFixed(1)} s, ${(done / seconds).toFixed(0)} worlds/s`,
  );
  return failed.length === 0;
}

function kindsOf(text: string | undefined): readonly Kind[] {
  if (text === undefined || text === "all") return WORLD_KINDS;
  const kind = WORLD_KINDS.find((name) => name === text);
  if (kind !== undefined) return [kind];
  throw new RangeError(`--executor is ${WORLD_KINDS.join(", ")} or all, not ${text}`);
}

function wholeNumber(name: string, text: string): number {
  const number = Number(text);
  if (text.trim() === "" || !Number.isSafeInteger(number) || number < 0)
    throw new RangeError(`--${name} is a whole number, not ${text}`);
  return number;
}

async function main(): Promise<boolean> {
  const executors = kindsOf(values.executor);
  if (values.seed !== undefined) return one(wholeNumber("seed", values.seed), executors[0] ?? "script");
  const from = values.from === undefined ? Date.now() % 1_000_000_000 : wholeNumber("from", values.from);
  if (values.long) {
    const minutes = Number(values.minutes);
    if (!(minutes > 0)) throw new RangeError(`--minutes is a number above 0, not ${values.minutes}`);
    const until = performance.now() + minutes * 60_000;
    return many(from, () => performance.now() < until, executors);
  }
  const count = wholeNumber("seeds", values.seeds);
  return many(from, (done) => done < count, executors);
}

try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  if (!(error instanceof RangeError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
