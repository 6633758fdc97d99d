// The server dies by kill -9 while pages are open, and comes back under the same address: they say so, go on by themselves,
// and show what happened once each.

import { afterAll, beforeAll, expect, test } from "vitest";
import { startScriptedProvider, type ScriptedProvider } from "perdure/testing";
import type { Page } from "playwright-core";
import { DESK, RESEARCH } from "../support/server.ts";
import { scriptedModelEnv } from "../support/model.ts";
import { eventually, useWorld } from "../support/world.ts";

const ROOMY = { height: 1_900 } as const;

let provider: ScriptedProvider;
let answerHeld: PromiseWithResolvers<void>;
beforeAll(() => {
  answerHeld = Promise.withResolvers();
});
const world = useWorld(async () => {
  provider = await startScriptedProvider({
    script: async ({ messages }) => {
      if (messages.some(({ role }) => role === "tool")) {
        await answerHeld.promise;
        return "The lamp is lit at dusk.";
      }
      return { toolCalls: [{ name: "search", input: { query: "lamp" } }] };
    },
  });
  return { files: [RESEARCH, DESK], env: scriptedModelEnv(provider) };
});
afterAll(() => provider.close());

const offline = (page: Page): ReturnType<Page["locator"]> =>
  page.getByRole("status").filter({ hasText: "Reconnecting" });
const stepsShown = (page: Page): Promise<readonly string[]> =>
  page.locator(".wf-name").filter({ hasText: "work" }).allInnerTexts();

test("a run goes on before the eyes of whoever watched it, each step once", async () => {
  const run = await world.server.send("desk/busy", { steps: 40, everyMs: 40 });
  const [{ page }, list] = await Promise.all([world.open(`/runs/${run}`, ROOMY), world.open("/runs?service=desk")]);
  await eventually(async () => (await stepsShown(page)).length > 8, true);
  await page.evaluate(() => Object.assign(window, { isFirstLoad: true }));

  await world.server.kill();
  for (const one of [page, list.page]) await offline(one).waitFor();
  expect(await page.locator(".live-mark").innerText()).toBe("Reconnecting …");
  expect((await stepsShown(page)).length).toBeGreaterThan(8); // What was seen stays to be read.

  await world.server.startAgain();
  for (const one of [page, list.page]) await offline(one).waitFor({ state: "detached" });
  await eventually(() => page.locator(".run-head .badge").first().textContent(), "succeeded");
  const expected = Array.from({ length: 40 }, (_, at) => `step work ${at + 1}`);
  await eventually(() => stepsShown(page), expected);
  expect(await page.evaluate(() => "isFirstLoad" in window)).toBe(true);
  const { page: fresh } = await world.open(`/runs/${run}`, ROOMY);
  await eventually(() => stepsShown(fresh), expected);

  const later = await world.server.send("desk/steps", { count: 1 });
  await list.page.locator(`.runs-row a[href$="${later}"]`).first().waitFor();
  const links = await list.page.locator(".virtual-row .wide a.run-link").all();
  const ids = await Promise.all(links.map((link) => link.getAttribute("title")));
  expect(ids).toEqual([...new Set(ids)]);
  expect(new Set(ids)).toEqual(new Set([run, later]));
});

test("an agent that was cut in the middle of an answer goes on, and nothing is paid for twice", async () => {
  const run = await world.server.send("researcher/crash/send", { text: "When is the lamp lit?" });
  const { page } = await world.open(`/runs/${run}`, ROOMY);
  await page.locator(".wf-row").first().waitFor();
  // The second call waits at the provider: the first, and the search, are settled.
  await eventually(async () => provider.requests.length, 2);
  await world.server.kill();
  await offline(page).waitFor();
  answerHeld.resolve();
  await world.server.startAgain();
  await eventually(() => page.locator(".run-head .badge").first().textContent(), "succeeded");
  expect(provider.bill.paidTwice).toEqual([]);
  const calls = await page.locator(".wf-name").allInnerTexts();
  expect(calls.filter((text) => text.includes("model"))).toHaveLength(2);
  await page.getByRole("link", { name: "Input and result" }).click();
  await page.getByText("The lamp is lit at dusk.").waitFor();
});

test("where somebody went meanwhile opens, and is filled as soon as there is an answer", async () => {
  await world.server.send("desk/steps", { count: 1 });
  const cockpit = await world.open("/");
  const { page } = cockpit;
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await otherPartsAreLoaded(page);
  await world.server.kill();
  await offline(page).waitFor();
  await cockpit.press("g r");
  await page.getByRole("alert").getByText("The server does not answer").waitFor();
  await world.server.startAgain();
  await eventually(async () => (await page.locator(".virtual-row").count()) > 0, true);
});

test("a part of the page that was not there yet is waited for, with the place that was gone to", async () => {
  const cockpit = await world.open("/nowhere");
  const { page } = cockpit;
  // None was loaded ahead.
  await page.route("**/ui/assets/runs-*", (route) => route.abort("connectionrefused"));
  await page.reload();
  await page.getByText("Nothing is here").waitFor();
  await cockpit.press("g r");
  await page.getByRole("alert").getByText("The server does not answer").waitFor();
  cockpit.problems.splice(0); // React tells the console of what the page tells the viewer.
  await page.unroute("**/ui/assets/runs-*");
  await page.getByRole("heading", { name: "Runs" }).waitFor();
  expect(cockpit.path).toBe("/runs");
});

async function otherPartsAreLoaded(page: Page): Promise<void> {
  const loaded = (): Promise<boolean> =>
    page.evaluate(() => performance.getEntriesByName("perdure: all parts are loaded").length > 0);
  await eventually(loaded, true);
}
