// Whatever agents, tools and documents say, and however things are named: the page shows it as text. Nothing is run, nothing
// leaves, nothing hides, and the page keeps its shape. (What a page must not do is watched by support/cockpit.ts.)

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startScriptedProvider, type ScriptedProvider } from "perdure/testing";
import type { Page } from "playwright-core";
import { Cockpit, DESKTOP_PX, PHONE_PX } from "../support/cockpit.ts";
import { CORPUS, EVERYTHING, NAME, UNSEEN } from "../support/corpus.ts";
import { obedient, scriptedModelEnv } from "../support/model.ts";
import { DESK, KEEPER, RESEARCH } from "../support/server.ts";
import { seed, VIEWS, type Seeded } from "../support/views.ts";
import { useWorld } from "../support/world.ts";

let provider: ScriptedProvider;
let seeded: Seeded;
const world = useWorld(async () => {
  provider = await startScriptedProvider({ script: obedient });
  return { files: [RESEARCH, DESK, KEEPER], env: scriptedModelEnv(provider) };
});
beforeAll(async () => {
  seeded = await seed(world.server, { name: NAME, text: EVERYTHING });
});
afterAll(() => provider.close());

/** What stands in the document that no text may bring there. */
function intruders(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const own = (address: string): boolean => new URL(address, location.href).origin === location.origin;
    const found: string[] = [];
    for (const element of document.querySelectorAll("*")) {
      const name = element.localName;
      const isForeign = ["iframe", "object", "embed", "base", "style", "template", "math", "animate"].includes(name);
      const isScript = name === "script" && !own(element.getAttribute("src") ?? "data:");
      const isRefresh = name === "meta" && element.hasAttribute("http-equiv");
      if (isForeign || isScript || isRefresh) found.push(new XMLSerializer().serializeToString(element).slice(0, 200));
      for (const { name: attribute, value } of element.attributes) {
        if (attribute.startsWith("on") || attribute === "srcdoc") found.push(`${name} ${attribute}=${value}`);
        const leads = ["href", "xlink:href", "action", "formaction"].includes(attribute);
        if (leads && !/^(?:https?:|\/|#)/.test(value)) found.push(`${name} leads to ${value}`);
        if (attribute === "src" && !own(value)) found.push(`${name} loads ${value}`);
      }
    }
    return found;
  });
}

/** Every text that is shown or read out, as far as it has characters that nobody sees. */
function hidden(page: Page): Promise<readonly string[]> {
  return page.evaluate((pattern) => {
    const unseen = new RegExp(pattern, "u");
    const texts = [document.title, document.body.textContent];
    for (const element of document.querySelectorAll("[title], [aria-label], [placeholder]"))
      texts.push(...["title", "aria-label", "placeholder"].map((name) => element.getAttribute(name) ?? ""));
    return texts.filter((text) => unseen.test(text)).map((text) => text.slice(0, 200));
  }, UNSEEN.source);
}

async function expectHarmless({ page, problems }: Cockpit): Promise<void> {
  expect(await intruders(page)).toEqual([]);
  expect(await hidden(page)).toEqual([]);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(overflow, "pixels too wide").toBeLessThanOrEqual(0);
  expect(problems).toEqual([]);
}

let cockpit: Cockpit;
beforeAll(async () => {
  cockpit = await Cockpit.open(world.browser, world.server);
});
afterAll(() => cockpit.close());

const SHAPES = /^(?:Text|Document|JSON|Tree)$/;

describe("names and texts are harmless in", () => {
  test.each(VIEWS)("$name", async ({ path, sign }) => {
    const { page } = cockpit;
    await page.setViewportSize({ width: DESKTOP_PX, height: 860 });
    await cockpit.goto(path(seeded));
    await page.locator(sign).first().waitFor();
    await expectHarmless(cockpit);
    for (const shape of await page.getByRole("button", { name: SHAPES }).all()) {
      await shape.click();
      await expectHarmless(cockpit);
    }
    await page.setViewportSize({ width: PHONE_PX, height: 740 });
    await expectHarmless(cockpit);
    expect(await page.locator(sign).first().isVisible()).toBe(true);
  });

  test("the palette, which names what ran last", async () => {
    const { page } = cockpit;
    await page.setViewportSize({ width: DESKTOP_PX, height: 860 });
    await cockpit.goto("/runs");
    await page.locator(".virtual-row").first().waitFor();
    await world.server.post(`/runs/${seeded.waiting}/pause`);
    await world.server.post(`/runs/${seeded.turn}/pause`);
    await page.getByText("paused", { exact: true }).nth(2).waitFor();
    await cockpit.press("Control+k");
    await page.getByRole("dialog").getByRole("group", { name: "Recent runs" }).getByText("researcher").waitFor();
    await expectHarmless(cockpit);
  });

  test("what is said of an action that failed", async () => {
    const { page } = cockpit;
    await cockpit.goto(`/runs/${seeded.waiting}`);
    await page.route("**/runs/*/resume", (route) =>
      route.fulfill({ status: 409, json: { error: { code: "P0031", message: EVERYTHING, status: 409 } } }),
    );
    await page.locator(".run-head").getByRole("button", { name: "Resume" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Resume" }).click();
    await page.locator(".toast").waitFor();
    await expectHarmless(cockpit);
    await page.unrouteAll();
  });
});

describe("as the result of a run, in every shape,", () => {
  test.each(CORPUS)("$kind", async ({ text }) => {
    await world.server.call("desk/echo", { name: "say it", value: text });
    const { runs } = await world.server.get<{ readonly runs: readonly { readonly id: string }[] }>(
      "/runs?service=desk&handler=echo&limit=1",
    );
    const { page } = cockpit;
    await cockpit.goto(`/runs/${runs[0]?.id ?? ""}?tab=data`);
    const result = page.locator(".run-data .panel").nth(1);
    for (const shape of ["Text", "JSON", "Document"]) {
      await result.getByRole("button", { name: shape }).click();
      await expectHarmless(cockpit);
    }
    for (const link of await result.getByRole("link").all()) {
      expect(await link.getAttribute("href")).toMatch(/^(?:https?:\/\/|#)/);
      expect(await link.getAttribute("rel")).toContain("noreferrer");
    }
  });
});
