import fs from "node:fs";
import { writeFile } from "node:fs/promises";
import { request } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UnjournaledEffectError, encodeRunId } from "@perdure/protocol";
import { afterEach, describe, expect, test } from "vitest";
import { parseFrame } from "./call-site.ts";
import { describeEffect, EffectGuard, type GuardMode, type UnjournaledEffect } from "./effect-guard.ts";
import { installWatches } from "./watches.ts";

const scope = { run: encodeRunId(new Uint8Array(24)), service: "mailer", handler: "send", key: null };
let uninstall = (): void => undefined;

afterEach(() => {
  uninstall();
  uninstall = () => undefined;
});

function install(mode: GuardMode = "warn"): { readonly guard: EffectGuard; readonly effects: UnjournaledEffect[] } {
  const effects: UnjournaledEffect[] = [];
  const guard = new EffectGuard({ mode, report: (effect) => void effects.push(effect) });
  uninstall = installWatches(guard);
  return { guard, effects };
}

const file = join(tmpdir(), `perdure-guard-${process.pid}`);

/** Each of them once, and the word by which its fix is recognised. */
const EFFECTS: readonly (readonly [string, string, () => unknown])[] = [
  ["Date.now()", "ctx.now()", () => Date.now()],
  ["new Date()", "ctx.now()", () => new Date()],
  ["performance.now()", "ctx.now()", () => performance.now()],
  ["Math.random()", "ctx.random()", () => Math.random()],
  ["crypto.randomUUID()", "ctx.uuid()", () => crypto.randomUUID()],
  ["setTimeout()", "ctx.sleep(", () => clearTimeout(setTimeout(() => undefined, 1))],
  ["setInterval()", "ctx.sleep(", () => clearInterval(setInterval(() => undefined, 1))],
  ["timers/promises setTimeout()", "ctx.sleep(", () => sleep(0)],
  ["fetch(", "ctx.step(", () => fetch("http://127.0.0.1:1/").catch(() => undefined)],
  [
    "http.request(",
    "ctx.step(",
    () =>
      request("http://127.0.0.1:1/x")
        .on("error", () => undefined)
        .end(),
  ],
  ["a network connection", "ctx.step(", () => connect(1, "127.0.0.1").on("error", () => undefined)],
  ["fs.writeFileSync(", "ctx.step(", () => fs.writeFileSync(file, "x")],
  ["fs.promises.writeFile(", "ctx.step(", () => writeFile(file, "x")],
];

describe("in a handler, outside of a step (G1)", () => {
  test.each(EFFECTS)("%s is caught, with this file's line and the fix %s", async (what, fix, effect) => {
    const { guard, effects } = install();
    await guard.runHandler(scope, effect);
    expect(effects).toHaveLength(1);
    const [caught] = effects as [UnjournaledEffect];
    expect(caught.what).toContain(what);
    expect(caught.fix).toContain(fix);
    expect(caught.site?.file).toBe(import.meta.filename);
    expect(describeEffect(caught)).toContain("mailer/send");
  });

  test("also after an await", async () => {
    const { guard, effects } = install();
    await guard.runHandler(scope, async () => {
      await Promise.resolve();
      Date.now();
    });
    expect(effects).toHaveLength(1);
  });

  test("a place is reported once, another place again (G2)", () => {
    const { guard, effects } = install();
    guard.runHandler(scope, () => {
      for (let i = 0; i < 3; i += 1) Math.random();
      Math.random();
    });
    expect(effects).toHaveLength(2);
  });
});

describe("allowed", () => {
  test.each(EFFECTS)("%s inside a step", async (_what, _fix, effect) => {
    const { guard, effects } = install();
    await guard.runHandler(scope, () => guard.runStep(scope, effect));
    expect(effects).toEqual([]);
  });

  test.each(EFFECTS)("%s in code that is no handler's", async (_what, _fix, effect) => {
    const { effects } = install();
    await effect();
    expect(effects).toEqual([]);
  });

  test("the runtime's own work, though a handler called it (G4)", () => {
    const { guard, effects } = install();
    guard.runHandler(scope, () => guard.outside(() => Date.now()));
    expect(effects).toEqual([]);
  });

  test("dates that are made of something", () => {
    const { guard, effects } = install();
    guard.runHandler(scope, () => [new Date(0), new Date("2026-01-01"), Date.UTC(2026, 0), Date.parse("2026-01-01")]);
    expect(effects).toEqual([]);
  });
});

describe("what is caught still does what it does (G3)", () => {
  test("values, identity and classes stay", () => {
    const { guard } = install();
    guard.runHandler(scope, () => {
      expect(new Date()).toBeInstanceOf(Date);
      expect(Math.abs(Date.now() - new Date().getTime())).toBeLessThan(1_000);
      class Stamp extends Date {}
      expect(new Stamp()).toBeInstanceOf(Stamp);
    });
  });

  test("mode throw stops it, with the same words", () => {
    const { guard } = install("throw");
    expect(() => guard.runHandler(scope, () => Math.random())).toThrow(UnjournaledEffectError);
    expect(guard.runHandler(scope, () => guard.runStep(scope, () => Math.random()))).toBeLessThan(1);
  });

  test("uninstalling leaves no trace", () => {
    const originals = [
      globalThis.Date,
      Date.now,
      Math.random,
      globalThis.setTimeout,
      globalThis.fetch,
      fs.writeFileSync,
    ];
    install();
    uninstall();
    uninstall = () => undefined;
    expect([globalThis.Date, Date.now, Math.random, globalThis.setTimeout, globalThis.fetch, fs.writeFileSync]).toEqual(
      originals,
    );
  });
});

describe("the place in the code", () => {
  test.each([
    ["    at send (file:///app/src/mailer.ts:12:5)", "/app/src/mailer.ts:12:5"],
    ["    at async Object.send (file:///app/src/mailer.ts?v=3:12:5)", "/app/src/mailer.ts:12:5"],
    ["    at /app/src/mailer.ts:1:2", "/app/src/mailer.ts:1:2"],
  ])("%s", (frame, text) => {
    expect(parseFrame(frame, [])?.text).toBe(text);
  });

  test.each([
    "    at node:internal/timers:1:2",
    "    at f (node:fs:1:1)",
    "    at f (file:///app/node_modules/x/y.js:1:2)",
    "    at <anonymous>",
    "    at own (file:///own/x.ts:1:1)",
  ])("%s is nobody's", (frame) => {
    expect(parseFrame(frame, ["/own/"])).toBeNull();
  });
});
