// What is done by hand: a handler called from its page, a value changed while somebody else changes it, a question in SQL, a
// schedule that is started.

import { describe, expect, test } from "vitest";
import { DESK } from "../support/server.ts";
import { eventually, useWorld } from "../support/world.ts";

const world = useWorld(() => ({ files: [DESK] }));

describe("a handler", () => {
  test("is called from its page, and followed to its result", async () => {
    const cockpit = await world.open("/services");
    const { page } = cockpit;
    await page.locator(".service-row").filter({ hasText: "desk" }).getByRole("link", { name: "waits" }).click();
    await page.getByRole("heading", { name: "Call it" }).waitFor();
    expect(cockpit.path).toBe("/services/desk?handler=waits");
    await page.locator(".call-form textarea").fill('{"before": "called by hand"}');
    expect(await page.locator(".call-form .command").innerText()).toContain("npx perdure call desk/waits");
    await cockpit.press("Control+Enter");
    const result = page.locator(".call-result");
    const link = result.locator("a.run-link");
    await link.waitFor();
    const run = (await link.getAttribute("title")) ?? "";
    await world.server.post(`/runs/${run}/signals/go`, "from elsewhere");
    await result.getByText("from elsewhere").waitFor();
    await result.getByText("succeeded").waitFor();
  });

  test("is not called with what is no JSON, and the page says where", async () => {
    const { page } = await world.open("/services/desk?handler=steps");
    await page.locator(".call-form textarea").fill('{"count": }');
    await page.getByRole("button", { name: "Call and wait Ctrl" }).click();
    await page.getByRole("alert").getByText("Something is still missing or wrong above.").waitFor();
    const { runs } = await world.server.get<{ readonly runs: readonly unknown[] }>("/runs?handler=steps");
    expect(runs).toEqual([]);
  });
});

describe("a value of the state", () => {
  test("is changed after its difference was seen, and is live in another page", async () => {
    await world.server.call("shelf/live/put", { name: "colour", value: "green" });
    const watcher = await world.open("/state/shelf/live");
    const { page } = await world.open("/state/shelf/live");
    await page.getByRole("button", { name: "Edit colour" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox").fill('"red"');
    await dialog.getByRole("button", { name: "See what changes" }).click();
    await dialog.locator(".diff").getByText("green").waitFor();
    expect(await dialog.locator(".command").innerText()).toContain("npx perdure state set shelf live colour");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "hidden" });
    await watcher.page.getByText("red", { exact: true }).waitFor();
  });

  test("that somebody else was faster with is not written over", async () => {
    await world.server.call("shelf/raced/put", { name: "count", value: 1 });
    const { page } = await world.open("/state/shelf/raced");
    await page.getByRole("button", { name: "Edit count" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox").fill("2");
    await world.server.call("shelf/raced/put", { name: "count", value: 3 });
    await dialog.getByRole("alert").getByText("It was changed meanwhile").waitFor();
    expect(await dialog.getByRole("button", { name: "See what changes" }).isDisabled()).toBe(true);
    await dialog.getByRole("button", { name: "Keep mine, replace theirs" }).click();
    await dialog.getByRole("button", { name: "See what changes" }).click();
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "hidden" });
    const { state } = await world.server.get<{ readonly state: object }>("/state/shelf/raced");
    expect(state).toEqual({ count: 2 });
  });
});

test("a statement stands in the address, and its answer in the page; a mistake is said with its place", async () => {
  await world.server.call("shelf/counted/put", { name: "a", value: 1 });
  const cockpit = await world.open("/sql");
  const { page } = cockpit;
  await page.getByLabel("Statement").fill("SELECT key FROM state WHERE service = 'shelf' AND key = 'counted'");
  await cockpit.press("Control+Enter");
  await page.getByRole("cell", { name: "counted" }).waitFor();
  const reader = await world.open(cockpit.path);
  await reader.page.getByRole("cell", { name: "counted" }).waitFor();
  await page.getByLabel("Statement").fill("SELECT key FROM nowhere");
  await cockpit.press("Control+Enter");
  await page.getByRole("alert").getByText("nowhere").waitFor();
});

test("a schedule is started by hand, and tells what became of it", async () => {
  await world.server.call("desk/plan", { name: "nightly", text: "tidied" });
  const { page } = await world.open("/schedules");
  await page.getByRole("button", { name: "nightly" }).click();
  await page.getByRole("button", { name: "Start now" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Start now" }).click();
  await page.getByText("by hand").first().waitFor();
  await eventually(async () => {
    const { runs } = await world.server.get<{ readonly runs: readonly { readonly status: string }[] }>(
      "/runs?service=desk&handler=steps",
    );
    return runs.map(({ status }) => status);
  }, ["succeeded"]);
});
