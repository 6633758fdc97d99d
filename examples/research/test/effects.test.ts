import { appendFileSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { describe, expect, test, vi } from "vitest";

import { createInjection, InjectedError, parsePlan } from "../src/inject.ts";
import { describe as inWords, readLedger, summarise, writeLine } from "../src/ledger.ts";
import { describeSettings, readSettings } from "../src/settings.ts";
import { folderWith } from "./folders.ts";

describe("injection", () => {
  test("a plan is read, and what cannot be read is explained", () => {
    const plan = { toolErrors: 0.3, model429: 0.25, crashAfter: 5, seed: 7 };
    expect(parsePlan("tool-errors=0.3, model-429=0.25,crash-after=5,seed=7")).toEqual(plan);
    expect(parsePlan("")).toMatchObject({ toolErrors: 0, model429: 0, crashAfter: undefined });
    expect(() => parsePlan("tool-error=1")).toThrow('cannot inject "tool-error": there are tool-errors');
    expect(() => parsePlan("tool-errors=1")).toThrow("a share such as 0.3");
    expect(() => parsePlan("crash-after=soon")).toThrow("a whole number");
    expect(() => parsePlan("crash-after")).toThrow("a whole number");
  });

  test("a share of the tools fails, the same ones for the same seed", () => {
    const failures = (): number[] => {
      const injection = createInjection(parsePlan("tool-errors=0.3,seed=4"), "unused");
      return Array.from({ length: 200 }, () => {
        try {
          injection.beforeTool("search");
          return 0;
        } catch (error) {
          return error instanceof InjectedError ? 1 : 1_000;
        }
      });
    };
    const first = failures();
    const failed = first.reduce((sum, one) => sum + one);
    expect(failed).toBeGreaterThan(30);
    expect(failed).toBeLessThan(90);
    expect(failures()).toEqual(first);
  });

  test("nothing is injected that was not asked for", () => {
    const injection = createInjection(parsePlan(""), "unused", () => expect.unreachable());
    for (let at = 0; at < 100; at += 1) {
      injection.beforeEffect();
      injection.beforeTool("search");
      injection.beforeModelCall();
      injection.afterEffect();
    }
  });

  test("the crash comes before the effect after the N-th, and only once", () => {
    const data = join(folderWith(), "new");
    const kill = vi.fn<() => void>();
    const live = () => createInjection(parsePlan("crash-after=2"), data, kill);
    const injection = live();
    for (let at = 0; at < 2; at += 1) {
      injection.beforeEffect();
      injection.afterEffect();
    }
    expect(kill).not.toHaveBeenCalled();
    injection.beforeEffect();
    expect(kill).toHaveBeenCalledOnce();
    expect(readFileSync(join(data, "injected-crash"), "utf8")).toContain("after 2 effects");

    const next = live();
    for (let at = 0; at < 5; at += 1) {
      next.beforeEffect();
      next.afterEffect();
    }
    expect(kill).toHaveBeenCalledOnce();
  });
});

describe("ledger", () => {
  const line = (idempotencyKey: string, kind = "tool") => {
    return { at: "2026-01-01T00:00:00.000Z", pid: 1, kind, name: `do ${idempotencyKey}`, idempotencyKey, attempt: 1 };
  };

  test("tells what was executed, and what twice", () => {
    const file = join(folderWith(), "a", "ledger.jsonl");
    expect(readLedger(file)).toEqual([]);
    for (const one of [line("k1"), line("k2"), { ...line("k3", "model"), tokens: 12 }, { ...line("k1"), pid: 2 }]) {
      writeLine(file, one);
    }
    appendFileSync(file, '{"at":"2026-'); // Cut short.
    const summary = summarise(readLedger(file));
    expect(summary).toEqual({
      effects: 4,
      processes: 2,
      tokens: 12,
      byKind: { tool: 3, model: 1 },
      repeated: [{ name: "do k1", idempotencyKey: "k1", times: 2 }],
    });
    expect(inWords(summary)).toContain("2 times: do k1 (k1)");
    expect(inWords(summarise([line("k1")]))).toBe("1 effects executed by 1 process: 1 tool\nnothing was done twice");
  });
});

describe("settings", () => {
  const project = resolve(import.meta.dirname, "..", "..", "..");

  test("without anything: this project, the extractive model, data beside the runtime's", () => {
    const settings = readSettings({ OPENAI_API_KEY: "" });
    expect(settings).toMatchObject({
      project,
      corpus: undefined,
      inject: "",
      data: join(project, ".perdure", "research"),
    });
    expect(settings.ledger).toBe(join(settings.data, "ledger.jsonl"));
    expect(settings.budgetTokens).toBe(300_000);
    expect(settings.model).toEqual({ provider: "extractive", paceMs: 1_000 });
    const shown = describeSettings(settings, "extractive model", 7);
    expect(shown).toContain("ANTHROPIC_API_KEY brings one");
    expect(shown).toContain("npx perdure chat researcher --session demo");
  });

  test("from the environment", () => {
    const settings = readSettings({
      RESEARCH_CORPUS: "one",
      RESEARCH_DATA: "/data",
      RESEARCH_TOKENS: "5000",
      OPENAI_API_KEY: "secret",
      OPENAI_BASE_URL: "http://localhost:1/v1",
      RESEARCH_MODEL: "openai/m",
    });
    expect(settings).toMatchObject({
      corpus: resolve("one"),
      ledger: resolve("/data", "ledger.jsonl"),
      budgetTokens: 5_000,
    });
    expect(settings.model).toEqual({
      provider: "openai",
      name: "m",
      apiKey: "secret",
      baseURL: "http://localhost:1/v1",
    });
    expect(describeSettings(settings, "m at localhost", 7)).not.toContain("secret");
  });

  test("the key that is there chooses the provider, unless the model is named", () => {
    expect(readSettings({ OPENAI_API_KEY: "k" }).model).toMatchObject({ provider: "openai", name: "gpt-5-mini" });
    const anthropic = { ANTHROPIC_API_KEY: "k" };
    expect(readSettings(anthropic).model).toEqual({ provider: "anthropic", name: "claude-haiku-4-5", apiKey: "k" });
    expect(readSettings({ ...anthropic, RESEARCH_MODEL: "extractive" }).model.provider).toBe("extractive");
    expect(() => readSettings({ ...anthropic, RESEARCH_MODEL: "openai/m" })).toThrow("set OPENAI_API_KEY");
    expect(() => readSettings({ RESEARCH_MODEL: "opnai/m" })).toThrow("write openai/gpt-5-mini");
  });

  test("what cannot be meant is refused", () => {
    expect(readSettings({ RESEARCH_PACE: "250ms" }).model).toMatchObject({ paceMs: 250 });
    expect(() => readSettings({ RESEARCH_PACE: "slow" })).toThrow("write 250ms or 1.5s");
    expect(() => readSettings({ RESEARCH_TOKENS: "many" })).toThrow("a whole number above 0");
  });
});
