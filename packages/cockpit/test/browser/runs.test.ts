// Runs as somebody works with them: found, watched, walked through by keys, acted upon one by one and many at a time.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { DESK } from "../support/server.ts";
import { eventually, useWorld } from "../support/world.ts";

const gates = mkdtempSync(join(tmpdir(), "perdure-gates-"));
const world = useWorld(() => ({ files: [DESK], env: { DESK_GATES: gates } }));
afterAll(() => rmSync(gates, { recursive: true, force: true }));

const openGate = (name: string): void => {
  mkdirSync(gates, { recursive: true });
  writeFileSync(join(gates, name), "");
};

const rows = (page: Page): ReturnType<Page["locator"]> => page.locator(".runs-table [role=rowgroup] .virtual-row");
const statusOf = (page: Page): Promise<string | null> => page.locator(".run-head .badge").first().textContent();

describe("one run", () => {
  test("is watched from its start to its end without a reload", async () => {
    const run = await world.server.send("desk/waits", { before: "look around" });
    const { page } = await world.open(`/runs/${run}`);
    await page.getByText("look around").waitFor();
    await page.evaluate(() => Object.assign(window, { isFirstLoad: true }));
    await eventually(() => statusOf(page), "waiting");
    await page.getByText("the signal “go”").waitFor();

    await world.server.post(`/runs/${run}/signals/go`, "onwards");
    await page.getByRole("listitem").filter({ hasText: "step after" }).waitFor();
    await eventually(() => statusOf(page), "succeeded");
    expect(await page.evaluate(() => "isFirstLoad" in window)).toBe(true);
  });

  test("is answered from its page, and says what it was told", async () => {
    const run = await world.server.send("desk/waits", {});
    const { page } = await world.open(`/runs/${run}`);
    await page.locator(".waits").getByRole("button", { name: "Send" }).click();
    const dialog = page.getByRole("dialog");
    expect(await dialog.locator(".command").textContent()).toContain(`npx perdure signal ${run} 'go'`);
    await dialog.getByRole("textbox").fill('"from the page"');
    await dialog.getByRole("button", { name: "Send" }).click();
    await eventually(() => statusOf(page), "succeeded");
    await page.getByRole("link", { name: "Input and result" }).click();
    await page.getByText("from the page").waitFor();
  });

  test("shows a reader of its link what its sender saw", async () => {
    const run = await world.server.call<number>("desk/steps", { count: 3 }).then(async () => {
      const { runs } = await world.server.get<{ runs: { id: string }[] }>("/runs?handler=steps&limit=1");
      return runs[0]?.id ?? "";
    });
    const sender = await world.open(`/runs/${run}`);
    await sender.page.getByText("Waits shortened").click();
    await sender.page.getByRole("listitem").filter({ hasText: "step 2" }).getByRole("button").click();
    const panel = (page: Page): Promise<string> => page.locator(".entry").innerText();
    await eventually(async () => (await panel(sender.page)).includes("step 2"), true);
    expect(sender.path).toContain("entry=");
    const reader = await world.open(sender.path);
    await reader.page.locator(".entry").waitFor();
    expect(await panel(reader.page)).toBe(await panel(sender.page));
    expect(await reader.page.getByText("Waits shortened").getAttribute("aria-pressed")).toBe(
      await sender.page.getByText("Waits shortened").getAttribute("aria-pressed"),
    );
    await sender.page.reload();
    await sender.page.locator(".entry").waitFor();
    expect(await panel(sender.page)).toBe(await panel(reader.page));
  });
});

describe("a tree", () => {
  test("is cancelled from its page, children first, each as it happens", async () => {
    const root = await world.server.send("desk/trunk", { name: "oak" });
    const { page } = await world.open(`/runs/${root}?tab=children`);
    const leaves = page.locator(".tree-row").filter({ hasText: "desk/leaf" });
    const branches = page.locator(".tree-row").filter({ hasText: "desk/branch" });
    await eventually(() => leaves.count(), 2);
    await eventually(() => leaves.locator(".badge").allTextContents(), ["waiting", "waiting"]);

    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Cancel" }).click();
    const dialog = page.getByRole("dialog");
    expect(await dialog.locator(".command").textContent()).toContain(`npx perdure cancel ${root}`);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "hidden" });

    // The leaves undo what they did, and stand still there until the gates open: nobody above has ended before.
    await eventually(() => leaves.locator(".badge").allTextContents(), ["running", "running"]);
    openGate("undo oak left");
    await eventually(
      async () => (await branches.locator(".badge").allTextContents()).toSorted(),
      ["cancelled", "waiting"],
    );
    expect(await statusOf(page)).toBe("waiting");
    openGate("undo oak right");
    await eventually(() => branches.locator(".badge").allTextContents(), ["cancelled", "cancelled"]);
    await eventually(() => statusOf(page), "cancelled");
    expect(await leaves.locator(".badge").allTextContents()).toEqual(["cancelled", "cancelled"]);
  });
});

describe("many runs", () => {
  test("are cancelled at once by their filter, with how far it is, and the rest is left alone", async () => {
    const held = await Promise.all(Array.from({ length: 30 }, (_, at) => world.server.send(`shelf/batch-${at}/hold`)));
    const spared = await world.server.send("desk/waits", {});
    const { page } = await world.open("/runs?service=shelf");
    await eventually(() => page.locator(".runs-foot").textContent(), "30, all there are");
    await page.getByRole("checkbox", { name: "Select all that are loaded" }).check();
    await page.getByRole("button", { name: "Select all that match" }).click();
    await page.getByRole("button", { name: "Cancel", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("heading", { name: "Cancel 30 runs?" }).waitFor();
    expect(await dialog.locator(".command").textContent()).toContain("npx perdure cancel --service shelf");
    await dialog.getByRole("button", { name: "Cancel", exact: true }).click();
    await dialog.getByText("Done: 30").first().waitFor();
    expect(await dialog.getByRole("progressbar").getAttribute("value")).toBe("30");
    await dialog.getByRole("button", { name: "Close" }).click();
    await eventually(
      async () => (await Promise.all(held.map((run) => world.server.statusOf(run)))).every((s) => s === "cancelled"),
      true,
    );
    await eventually(async () => new Set(await rows(page).locator(".badge").allTextContents()), new Set(["cancelled"]));
    expect(["running", "suspended"]).toContain(await world.server.statusOf(spared));
  });

  test("that one of is refused are still acted upon, and the refused one is named", async () => {
    const runs = await Promise.all(["one", "two"].map((name) => world.server.send(`shelf/refused-${name}/hold`)));
    const { page } = await world.open("/runs?service=shelf&status=suspended");
    // Those of the test before are told of as they are cancelled.
    await eventually(() => rows(page).count(), 2);
    for (const box of await page.getByRole("checkbox", { name: "Select", exact: true }).all()) await box.check();
    await page.getByRole("button", { name: "Cancel", exact: true }).click();
    await page.getByRole("heading", { name: "Cancel 2 runs?" }).waitFor();
    // Somebody else is faster with one of them.
    await world.server.post(`/runs/${runs[0]}/kill`);
    await world.server.post(`/runs/${runs[0]}/purge`);
    await page.getByRole("dialog").getByRole("button", { name: "Cancel", exact: true }).click();
    await page.getByText("1 could not be acted on").waitFor();
    await eventually(() => world.server.statusOf(runs[1] ?? ""), "cancelled");
  });
});

describe("the keyboard alone", () => {
  test("goes to the runs, finds some, walks to one, opens it, walks its journal and comes back", async () => {
    await world.server.call("shelf/keys/put", { name: "colour", value: "green" });
    await world.server.call("shelf/keys/put", { name: "size", value: 3 });
    const cockpit = await world.open("/");
    const { page } = cockpit;
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await cockpit.press("g r");
    await page.getByRole("heading", { name: "Runs" }).waitFor();
    await cockpit.press("/");
    await page.keyboard.type("key:keys status:succeeded");
    await cockpit.press("Enter");
    await eventually(() => rows(page).count(), 2);
    expect(cockpit.path).toContain("key=keys");

    const current = page.locator(".runs-row[data-current]");
    await cockpit.press("j");
    const first = await current.innerText();
    await cockpit.press("j");
    expect(await current.innerText()).not.toBe(first);
    await cockpit.press("k");
    expect(await current.innerText()).toBe(first);
    await cockpit.press("x");
    await page.getByRole("region", { name: "1 selected" }).waitFor();
    await cockpit.press("x", "Enter");
    await page.locator(".wf-row").first().waitFor();

    await cockpit.press("j");
    await page.locator(".entry").waitFor();
    expect(cockpit.path).toContain("entry=");
    await cockpit.press("Escape");
    await page.locator(".entry").waitFor({ state: "detached" });
    await cockpit.press("u");
    await page.getByRole("heading", { name: "Runs" }).waitFor();
  });

  test("reaches everything by the palette, and the help names the keys of the page", async () => {
    const run = await world.server.send("desk/waits", {});
    const cockpit = await world.open("/runs");
    const { page } = cockpit;
    await page.getByRole("heading", { name: "Runs" }).waitFor();
    await cockpit.press("Control+k");
    await page.getByPlaceholder("A page, a run's id, a service …").waitFor();
    await page.keyboard.type(run);
    await page.getByText(`Open run ${run}`).waitFor();
    await cockpit.press("Enter");
    await page.locator(".run-id").getByText(run).waitFor();
    await cockpit.press("?");
    const help = page.getByRole("dialog", { name: "Keyboard" });
    for (const key of ["Next row", "Previous row", "Zoom in", "To Runs"]) await help.getByText(key).waitFor();
    await cockpit.press("Escape");
    await help.waitFor({ state: "hidden" });
    await cockpit.press("Control+k");
    await page.keyboard.type("overview");
    await cockpit.press("Enter");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
  });

  test("is never caught: Tab goes around the page, and a dialog gives the focus back", async () => {
    const run = await world.server.send("desk/waits", {});
    const cockpit = await world.open(`/runs/${run}`);
    const { page } = cockpit;
    const pause = page.locator(".run-head").getByRole("button", { name: "Pause" });
    await pause.waitFor();
    await cockpit.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to the content");
    await cockpit.press("Enter");
    for (let tabs = 0; tabs < 20; tabs += 1) {
      await cockpit.press("Tab");
      if (await pause.evaluate((button) => button === document.activeElement)) break;
    }
    await cockpit.press("Enter");
    await page.getByRole("dialog").waitFor();
    for (let tabs = 0; tabs < 8; tabs += 1) {
      await cockpit.press("Tab");
      await eventually(() => page.evaluate(() => document.activeElement?.closest("[role=dialog]") !== null), true);
    }
    await cockpit.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    await eventually(() => pause.evaluate((button) => button === document.activeElement), true);
  });
});
