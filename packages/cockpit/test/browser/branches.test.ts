// Runs that go on from where they were: forks, rewinds, moments with names, images after a crash, journals that the code left.

import { describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { DESK, KEEPER } from "../support/server.ts";
import { diverge, firstImage } from "../support/views.ts";
import { eventually, useWorld } from "../support/world.ts";

const world = useWorld(() => ({ files: [DESK, KEEPER] }));

const statusOf = (page: Page): Promise<string | null> => page.locator(".run-head .badge").first().textContent();
const rowsOf = (page: Page): Promise<readonly string[]> => page.locator(".wf-name").allInnerTexts();
const dialogOf = (page: Page): ReturnType<Page["getByRole"]> => page.getByRole("dialog");
const openRun = (page: Page): string => /\/runs\/(run_\w+)/.exec(page.url())?.[1] ?? "";
const waiting = (run: string): Promise<void> => eventually(() => world.server.statusOf(run), "suspended");

describe("a fork", () => {
  test("goes on by itself while its origin waits, and each leads to the other", async () => {
    const run = await world.server.send("desk/chooses");
    await waiting(run);
    const cockpit = await world.open(`/runs/${run}?entry=1`);
    const { page } = cockpit;
    await page.locator(".entry").waitFor();
    await cockpit.press("f");
    const dialog = dialogOf(page);
    await dialog.getByText("Shared: all 1 entry").waitFor();
    await dialog.getByLabel("Note to the fork").fill("take the left one");
    expect(await dialog.locator(".command").textContent()).toContain(
      `npx perdure fork ${run} --at 1 --note '"take the left one"'`,
    );
    await dialog.getByRole("button", { name: "Fork" }).click();

    await eventually(async () => openRun(page) !== run, true);
    const fork = openRun(page);
    await eventually(() => statusOf(page), "succeeded");
    expect(await rowsOf(page)).toContain("step take");
    expect(await world.server.statusOf(run)).toBe("suspended");
    await page.locator(".facts").getByText("after entry 1").waitFor();
    await page.locator(`.facts a[title="${run}"]`).click();
    await eventually(async () => openRun(page), run);
    await page.locator(".entry").waitFor(); // The entry that it was forked at.
    await eventually(() => statusOf(page), "waiting");
    expect(fork).not.toBe(run);
  });

  test("from the beginning may have another input, and what is no JSON is said in its place", async () => {
    const run = await world.server.send("desk/waits", { before: "as it was" });
    await waiting(run);
    const { page } = await world.open(`/runs/${run}`);
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Fork" }).click();
    const dialog = dialogOf(page);
    await dialog.getByRole("button", { name: "The beginning" }).click();
    const input = dialog.getByLabel("Input, as JSON");
    expect(JSON.parse(await input.inputValue())).toEqual({ before: "as it was" });
    await input.fill("{");
    await dialog.getByRole("button", { name: "Fork" }).click();
    await dialog.getByRole("alert").waitFor();
    await input.fill('{"before": "as it might be"}');
    await dialog.getByRole("button", { name: "Fork" }).click();
    await page.getByRole("listitem").filter({ hasText: "as it might be" }).waitFor();
    expect(openRun(page)).not.toBe(run);
  });

  test("of an object takes a key of its own, and is refused one that is in use", async () => {
    const run = await world.server.send("keeper/taken/listen");
    await waiting(run);
    const { page } = await world.open(`/runs/${run}?act=fork`);
    const dialog = dialogOf(page);
    await dialog.getByLabel("Key of the fork").fill("taken");
    await dialog.getByRole("button", { name: "Fork" }).click();
    await page.locator(".toast").getByText("is the one of the run itself").waitFor();
    await dialog.getByLabel("Key of the fork").fill("free");
    await dialog.getByRole("button", { name: "Fork" }).click();
    await page.locator(".run-head h1").getByText("/free").waitFor();
  });

  test("at an entry that is not there is not begun", async () => {
    const run = await world.server.send("desk/waits", {});
    await waiting(run);
    const { page } = await world.open(`/runs/${run}?act=fork&at=1`);
    const dialog = dialogOf(page);
    await dialog.getByLabel("After entry").fill("40");
    await dialog.getByText("The journal has entries 1 to 1").waitFor();
    await dialog.getByRole("button", { name: "Fork" }).click();
    expect(await dialog.isVisible()).toBe(true);
    expect(openRun(page)).toBe(run);
  });
});

describe("a rewind", () => {
  test("goes back in place, says what it calls off, and keeps what was as a branch", async () => {
    const run = await world.server.send("desk/waits", { before: "look" });
    await waiting(run);
    await world.server.post(`/runs/${run}/signals/go`, "on");
    await eventually(() => world.server.statusOf(run), "succeeded");
    const cockpit = await world.open(`/runs/${run}`);
    const { page } = cockpit;
    await eventually(() => rowsOf(page), ["step look", "signal “go”", "step after"]);
    // By the palette, as everything that a page can do.
    await cockpit.press("Control+k");
    await page.getByPlaceholder("A page, a run's id, a service …").waitFor();
    await page.keyboard.type("rewind");
    await cockpit.press("Enter");
    const dialog = dialogOf(page).filter({ hasText: "Rewind this run?" });
    await cockpit.press("Enter"); // What calls work off is not done by a key that opened it.
    await dialog.waitFor({ state: "detached" });
    await cockpit.press("w");
    await dialog.getByRole("button", { name: "The beginning" }).click();
    await dialog.getByText("Nothing stays but the input").waitFor();
    await dialog.getByLabel("After entry").fill("1");
    await dialog.getByText("Called off: the 2 entries after it.").waitFor();
    await dialog.getByText("1 step after it was done already").waitFor();
    await dialog.getByText("Signals that came since stay").waitFor();
    expect(await dialog.locator(".command").textContent()).toContain(`npx perdure rewind ${run} --to 1`);
    await dialog.getByRole("button", { name: "Rewind" }).click();

    const kept = page.locator(".branch-kept");
    await kept.waitFor();
    expect(openRun(page)).toBe(run);
    await eventually(() => statusOf(page), "succeeded"); // The signal is heard again.
    await page.locator(".facts").getByText("Restarted").waitFor();
    await page.reload();
    await kept.getByRole("link").click();
    await eventually(async () => openRun(page) !== run, true);
    await eventually(() => statusOf(page), "succeeded");
    await eventually(() => rowsOf(page), ["step look", "signal “go”", "step after"]);
    await page.locator(`.facts a[title="${run}"]`).waitFor();
  });
});

describe("moments", () => {
  test("are marks on the timeline; one that was named keeps its name over a reload, until it is taken away", async () => {
    const run = await world.server.send("keeper/named/listen");
    const cockpit = await world.open(`/runs/${run}`);
    const { page } = cockpit;
    const marks = page.locator(".moment-mark");
    await eventually(() => marks.count(), 1); // It comes by itself, when the run waits.
    await page.locator(".facts").getByText("newest at entry 20").waitFor();
    await cockpit.press("m");
    await page.locator(".moment").getByText("Kept until newer ones take its place").waitFor();
    expect(cockpit.path).toContain("entry=20");
    await cockpit.press("M");
    await page.getByLabel("Name", { exact: true }).fill("before the first word");
    await cockpit.press("Enter");
    await page.locator(".moment-mark[data-named]").waitFor();

    for (const word of ["one", "two"]) {
      await world.server.post(`/runs/${run}/signals/word`, word);
      await firstImage(world.server, run, word === "one" ? 41 : 62);
    }
    await eventually(async () => (await marks.count()) >= 2, true);
    await page.reload();
    await page.locator(".moment-mark[data-named]").getByText("before the first word").first().waitFor();
    await page.locator(".entry .moment").getByText("before the first word").waitFor();
    await page.locator(".wf-moment").getByText("before the first word").waitFor();

    await cockpit.press("f");
    await dialogOf(page).getByRole("button", { name: "before the first word" }).waitFor();
    await cockpit.press("Escape");
    await page.locator(".entry").getByRole("button", { name: "Take the name away" }).click();
    await page.locator(".moment-mark[data-named]").waitFor({ state: "detached" });
  });

  test("a run that is killed with -9 while it is watched goes on from its image", async () => {
    const run = await world.server.send("keeper/killed/listen");
    await world.server.post(`/runs/${run}/signals/word`, "before");
    const image = await firstImage(world.server, run, 41);
    const { page } = await world.open(`/runs/${run}`);
    await page.locator(".facts").getByText(`newest at entry ${image}`).waitFor();
    await page.evaluate(() => Object.assign(window, { isFirstLoad: true }));
    await world.server.kill();
    await page.getByRole("status").filter({ hasText: "Reconnecting" }).waitFor();
    await world.server.startAgain();
    for (const word of ["after", "end"]) await world.server.post(`/runs/${run}/signals/word`, word);
    await eventually(() => statusOf(page), "succeeded");
    await page.locator(".facts").getByText("Memory").waitFor();
    await page.getByRole("link", { name: "Input and result" }).click();
    await page.locator(".run-data").getByText("before after").waitFor();
    expect(await page.evaluate(() => "isFirstLoad" in window)).toBe(true);
  });
});

describe("where the code took another way than its journal", () => {
  test("both are side by side, with the place in the code; a rewind before it goes on", async () => {
    const run = await world.server.send("desk/drifts", { recorded: "charge the card", now: "charge the account" });
    await diverge(world.server, run);
    const { page } = await world.open(`/runs/${run}`);
    const sides = page.locator(".divergence > div");
    await eventually(() => sides.count(), 2);
    expect(await sides.locator("mark").allTextContents()).toEqual(["card", "account"]);
    expect(await page.locator(".divergence-place code").textContent()).toMatch(/\/support\/desk\.ts:\d+:\d+$/);
    await page.getByRole("link", { name: "Show entry 2" }).click();
    await page.locator(".entry").getByRole("heading", { name: "charge the card" }).waitFor();

    await page.locator(".ways-on").getByRole("button", { name: "Rewind" }).click();
    const dialog = dialogOf(page);
    expect(await dialog.getByLabel("After entry").inputValue()).toBe("1");
    await dialog.getByRole("button", { name: "Rewind" }).click();
    await page.locator(".branch-kept").waitFor();
    await eventually(() => statusOf(page), "waiting");
    await eventually(async () => (await rowsOf(page)).at(-1), "step charge the account");
    expect(await page.locator(".divergence").count()).toBe(0);
  });
});
