// Every view, light and dark, wide and narrow, as axe judges it; and what can be opened over them.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AxeResults, RunOptions } from "axe-core";
import { startScriptedProvider, type ScriptedProvider } from "perdure/testing";
import type { Page } from "playwright-core";
import { Cockpit, DESKTOP_PX, PHONE_PX } from "../support/cockpit.ts";
import { obedient, scriptedModelEnv } from "../support/model.ts";
import { DESK, KEEPER, RESEARCH } from "../support/server.ts";
import { seed, VIEWS, type Seeded } from "../support/views.ts";
import { useWorld } from "../support/world.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let provider: ScriptedProvider;
let seeded: Seeded;
const world = useWorld(async () => {
  provider = await startScriptedProvider({ script: obedient });
  return { files: [RESEARCH, DESK, KEEPER], env: scriptedModelEnv(provider) };
});
beforeAll(async () => {
  seeded = await seed(world.server, { name: "lamps", text: "The lamps are lit at dusk." });
});
afterAll(() => provider.close());

interface Asked {
  /** What is opened over a page stands at the end of the document, beside the landmarks. */
  readonly within?: string;
  readonly contrastOnly?: boolean;
}

/** What is wrong, in words that lead to it. */
async function violations(
  page: Page,
  { within = "html", contrastOnly = false }: Asked = {},
): Promise<readonly string[]> {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
  const rules = contrastOnly
    ? ["color-contrast"]
    : ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
  const asked = {
    within,
    options: {
      resultTypes: ["violations"],
      rules: { region: { enabled: within === "html" } },
      runOnly: { type: contrastOnly ? "rule" : "tag", values: rules },
    } satisfies RunOptions,
  };
  const { violations: found } = await page.evaluate(async ({ within, options }): Promise<AxeResults> => {
    const { axe } = window as unknown as { axe: { run(context: string, options: object): Promise<AxeResults> } };
    return axe.run(within, options);
  }, asked);
  return found.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${help}\n  ${target.join(" ")}\n  ${failureSummary ?? ""}`),
  );
}

/** By how much one would have to scroll to the side. */
const tooWidePx = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/** Until what was changed is painted, transitions included: they are over in a frame. */
const frames = (page: Page): Promise<unknown> =>
  page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

const WIDE = { width: DESKTOP_PX, height: 860 } as const;
const NARROW = { width: PHONE_PX, height: 740 } as const;

describe("every view is accessible and fits, light and dark, wide and narrow:", () => {
  let cockpit: Cockpit;
  beforeAll(async () => {
    cockpit = await Cockpit.open(world.browser, world.server);
  });
  afterAll(() => cockpit.close());

  test.each(VIEWS)("$name", async ({ path, sign }) => {
    const { page } = cockpit;
    await page.setViewportSize(WIDE);
    await cockpit.goto(path(seeded));
    await page.locator(sign).first().waitFor();
    expect(await violations(page), "light and wide").toEqual([]);
    await page.setViewportSize(NARROW);
    expect(await violations(page), "light and narrow").toEqual([]);
    expect(await tooWidePx(page)).toBe(0);
    await cockpit.press("T");
    await frames(page);
    expect(await violations(page, { contrastOnly: true }), "dark and narrow").toEqual([]);
    await page.setViewportSize(WIDE);
    expect(await violations(page, { contrastOnly: true }), "dark and wide").toEqual([]);
    expect(await tooWidePx(page)).toBe(0);
    await cockpit.press("T");
  });
});

describe("what opens over a view is accessible,", () => {
  test.each(["light", "dark"] as const)("%s", async (theme) => {
    const cockpit = await world.open(`/runs/${seeded.waiting}`, { theme, width: PHONE_PX });
    const { page } = cockpit;
    const opened = async (within: string): Promise<void> => {
      await page.locator(within).waitFor();
      expect(await violations(page, { within }), within).toEqual([]);
      await cockpit.press("Escape");
      await page.locator(within).waitFor({ state: "detached" });
    };
    await page.locator(".run-head").getByRole("button", { name: "More actions" }).click();
    await opened("[role=menu]");
    await page.locator(".run-head").getByRole("button", { name: "Pause" }).click();
    await opened(".dialog");
    await cockpit.press("Control+k");
    await opened(".palette");
    await cockpit.press("?");
    await opened(".dialog");
  });

  test.each([
    ["light", "en"],
    ["dark", "zh"],
  ] as const)("a fork and a rewind as well, %s and %s", async (theme, language) => {
    const cockpit = await world.open(`/runs/${seeded.imaged}?act=fork&at=0`, { theme, language, width: PHONE_PX });
    const { page } = cockpit;
    for (const at of [
      "act=fork&at=0",
      "act=fork&at=1",
      "act=fork&at=99",
      "act=rewind&at=0",
      `entry=${seeded.moment}&act=rewind`,
    ]) {
      await cockpit.goto(`/runs/${seeded.imaged}?${at}`);
      await page.locator(".dialog .entry-field").waitFor();
      expect(await violations(page, { within: ".dialog" }), at).toEqual([]);
      expect(await tooWidePx(page), at).toBe(0);
    }
    await cockpit.goto(`/runs/${seeded.imaged}?entry=${seeded.moment}`);
    await page.locator(".moment").waitFor();
    await cockpit.press("M");
    await page.locator(".moment-form").waitFor();
    expect(await violations(page), "naming a moment").toEqual([]);
    await page.locator(".moment-mark").focus();
    await page.locator(".moment-tip").waitFor();
    expect(await violations(page), "what a mark says").toEqual([]);
  });

  test("so is the bar of a selection, and what is still loading", async () => {
    const cockpit = await world.open("/runs");
    const { page } = cockpit;
    await page.getByRole("checkbox", { name: "Select all that are loaded" }).check();
    await page.locator(".selection-bar").waitFor();
    expect(await violations(page)).toEqual([]);
    await page.route("**/runs?*", () => undefined); // Never answered.
    await cockpit.goto("/runs");
    await page.locator("[aria-busy]").first().waitFor();
    expect(await violations(page)).toEqual([]);
  });
});
