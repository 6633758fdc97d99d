// Agents as somebody works with them: talked to, steered, answered, forked; all of it on the page, and live.

import { afterAll, afterEach, describe, expect, test } from "vitest";
import { startScriptedProvider, type ScriptedProvider } from "perdure/testing";
import type { Locator, Page } from "playwright-core";
import { lastSaid, obedient, scriptedModelEnv } from "../support/model.ts";
import { RESEARCH } from "../support/server.ts";
import { eventually, useWorld } from "../support/world.ts";

let provider: ScriptedProvider;
/** Words that the model thinks about until they are let go. */
const held = new Map<string, PromiseWithResolvers<void>>();
const world = useWorld(async () => {
  provider = await startScriptedProvider({
    script: async (request, seen) => {
      const said = lastSaid(request);
      for (const [word, { promise }] of held) if (said.includes(word)) await promise;
      if (said.includes("count"))
        return { text: "one two three four five six seven eight nine ten", tokensPerSecond: 3 };
      return obedient(request, seen);
    },
  });
  return { files: [RESEARCH], env: scriptedModelEnv(provider) };
});
afterEach(() => held.clear());
afterAll(() => provider.close());

function hold(word: string): () => void {
  const resolvers = Promise.withResolvers<void>();
  held.set(word, resolvers);
  return () => resolvers.resolve();
}

const conversation = (page: Page): Locator => page.getByRole("log", { name: "Conversation" });

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel("Message", { exact: true }).fill(text);
  await page.keyboard.press("Enter");
}

async function answer(dialog: Locator, how: { readonly name: string; readonly comment?: string }): Promise<void> {
  await dialog.getByLabel("Your name").fill(how.name);
  if (how.comment !== undefined) await dialog.getByLabel("Comment").fill(how.comment);
}

describe("a session", () => {
  test("begins on the page, and is watched until its answer without a reload", async () => {
    const cockpit = await world.open("/agents");
    const { page } = cockpit;
    await page.getByRole("heading", { name: "Agents" }).waitFor();
    await cockpit.press("c");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name of the session").fill("first");
    await dialog.getByRole("button", { name: "Open it" }).click();
    await page.getByText("Nothing was said yet").waitFor();
    await page.evaluate(() => Object.assign(window, { isFirstLoad: true }));

    const go = hold("lamps");
    await cockpit.press("c");
    await page.keyboard.type("search for lamps");
    await cockpit.press("Enter");
    await conversation(page).getByText("search for lamps").waitFor();
    await conversation(page).locator("[data-receipt=seen]").waitFor();
    go();
    await conversation(page).locator(".tool-call").filter({ hasText: "search" }).waitFor();
    await conversation(page).getByText("Done: search for lamps").waitFor();
    await conversation(page).locator("[data-receipt=answered]").waitFor();
    expect(await page.evaluate(() => "isFirstLoad" in window)).toBe(true);
    expect(cockpit.path).toBe("/agents/researcher/first");

    const reader = await world.open(cockpit.path);
    await conversation(reader.page).getByText("Done: search for lamps").waitFor();
  });

  test("is steered while it works: the next model call is told", async () => {
    const go = hold("search for harbours");
    const { page } = await world.open("/agents/researcher/steered");
    await say(page, "search for harbours");
    await conversation(page).locator("[data-receipt=seen]").waitFor();
    await page.getByText("The agent sees it before its next model call.").waitFor();
    await say(page, "and mention boats");
    await conversation(page).locator("[data-receipt=accepted]").waitFor();
    go();
    await conversation(page).getByText("You said: and mention boats").waitFor();
    await eventually(() => conversation(page).locator("[data-receipt=answered]").count(), 2);
    expect(provider.bill.paidTwice).toEqual([]);
  });

  test("is interrupted in the middle of an answer, of which what had come by then is kept", async () => {
    const { page } = await world.open("/agents/researcher/interrupted");
    await say(page, "count");
    await conversation(page).getByText("one two").waitFor();
    await page.getByRole("button", { name: /^What becomes of it/ }).click();
    await page.getByRole("menuitem", { name: /^Interrupt/ }).click();
    await say(page, "enough");
    await conversation(page).getByText("You said: enough").waitFor();
    await conversation(page).getByText("interrupted: this is what had come by then").waitFor();
    expect(await conversation(page).innerText()).not.toContain("ten");
  });

  test("is forked: the copy knows what was said, and the two go their own ways", async () => {
    await world.server.call("researcher/trunk/send", { text: "the lamp is green" });
    const cockpit = await world.open("/agents/researcher/trunk");
    const { page } = cockpit;
    await conversation(page).getByText("You said: the lamp is green").waitFor();
    await page.locator(".session-head").getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Fork …" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name of the new session").fill("branch");
    expect(await dialog.locator(".command").textContent()).toContain("researcher/trunk/fork");
    await dialog.getByRole("button", { name: "Fork …" }).click();
    await eventually(async () => cockpit.path, "/agents/researcher/branch");
    await conversation(page).getByText("You said: the lamp is green").waitFor();
    await say(page, "and the bell is red");
    await conversation(page).getByText("You said: and the bell is red").waitFor();
    const asked = provider.requests.findLast((request) => lastSaid(request).includes("bell"));
    expect(asked?.messages.some(({ text }) => text.includes("green"))).toBe(true);

    const trunk = await world.open("/agents/researcher/trunk");
    await conversation(trunk.page).getByText("You said: the lamp is green").waitFor();
    expect(await conversation(trunk.page).innerText()).not.toContain("bell");
  });
});

describe("a question", () => {
  test("is answered in the conversation, where it was asked", async () => {
    const { page } = await world.open("/agents/researcher/inline");
    await say(page, "publish the lamps");
    const card = conversation(page).locator(".approval-card");
    await card.getByRole("button", { name: "Approve" }).click();
    const dialog = page.getByRole("dialog");
    await answer(dialog, { name: "ada" });
    await dialog.getByRole("button", { name: "Approve" }).click();
    await conversation(page).getByText("Done: publish the lamps").waitFor();
    await card.waitFor({ state: "detached" });
  });

  test("is answered in the inbox by the keyboard: it leaves the list, and stands among the answered", async () => {
    const waiting = ["left", "right"].map((session) =>
      world.server.send(`researcher/${session}/send`, { text: `publish the ${session} lamp` }),
    );
    const cockpit = await world.open("/approvals");
    const { page } = cockpit;
    const rows = page.locator(".inbox-list > li");
    await eventually(() => rows.count(), 2);
    await cockpit.press("j");
    await page.locator(".inbox-detail").waitFor();
    expect(cockpit.path).toMatch(/^\/approvals\?id=apr_/);
    const chosen = cockpit.path;
    await cockpit.press("d");
    const dialog = page.getByRole("dialog");
    await answer(dialog, { name: "grace", comment: "not today" });
    await dialog.getByRole("button", { name: "Deny" }).click();
    await eventually(() => rows.count(), 1);

    await page.getByRole("link", { name: "Answered" }).click();
    const closed = page.locator(".inbox-list > li").filter({ hasText: "denied" });
    await closed.first().click();
    await page.getByText("not today").waitFor();
    expect(cockpit.path).toContain(chosen.slice(chosen.indexOf("apr_")));
    // The denied one goes on without; the other still waits for a person.
    const runs = await Promise.all(waiting);
    await eventually(
      async () => (await Promise.all(runs.map((run) => world.server.statusOf(run)))).toSorted(),
      ["succeeded", "suspended"],
    );
  });

  test("shows on the overview at once, and is gone when it was answered elsewhere", async () => {
    const { page } = await world.open("/");
    const needed = page.locator(".panel").filter({ has: page.getByRole("heading", { name: "Needs you" }) });
    await needed.waitFor();
    const asked = needed.getByRole("link", { name: /researcher wants to use publish/ });
    const open = (): Promise<{ readonly approvals: readonly { readonly id: string }[] }> =>
      world.server.get("/approvals?status=open");
    const before = (await open()).approvals.length;
    await eventually(() => asked.count(), before);
    await world.server.send("researcher/elsewhere/send", { text: "publish from elsewhere" });
    await eventually(() => asked.count(), before + 1);
    const { approvals } = await open();
    await world.server.post(`/approvals/${approvals[0]?.id ?? ""}`, { decision: "approved", by: "ada" });
    await eventually(() => asked.count(), before);
  });
});
