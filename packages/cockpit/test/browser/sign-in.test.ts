// A server with a token: the page asks for it, keeps it in its tab, and lets it go.

import { expect, test } from "vitest";
import { DESK } from "../support/server.ts";
import { useWorld } from "../support/world.ts";

const TOKEN = "correct horse battery staple";
const world = useWorld(() => ({ files: [DESK], token: TOKEN }));

test("nothing is shown before the token, and everything after it", async () => {
  await world.server.send("desk/waits", { before: "a secret step" });
  const cockpit = await world.open("/runs");
  const { page } = cockpit;
  const field = page.getByLabel("Token");
  await field.waitFor();
  expect(await field.evaluate((element) => element === document.activeElement)).toBe(true);
  expect(await page.locator(".shell").count()).toBe(0);

  await page.keyboard.type("wrong");
  await cockpit.press("Enter");
  await page.getByRole("alert").getByText("That is not the server's token.").waitFor();
  await field.fill(TOKEN);
  await cockpit.press("Enter");
  await page.locator(".virtual-row").getByText("desk").waitFor();
  await page.locator(".live-mark").getByText("Live").waitFor();
  expect(cockpit.path).toBe("/runs"); // Where they had wanted to go.
});

test("a reload does not ask again, another tab does, and signing out forgets", async () => {
  const cockpit = await world.open("/");
  const { page } = cockpit;
  await page.getByLabel("Token").fill(TOKEN);
  await cockpit.press("Enter");
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "Overview" }).waitFor();

  const other = await world.open("/");
  await other.page.getByLabel("Token").waitFor();

  const stored = await page.evaluate(() => JSON.stringify([Object.entries(localStorage), document.cookie]));
  expect(stored).not.toContain(TOKEN);
  expect(page.url()).not.toContain("token");
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("Token").waitFor();
  await page.reload();
  await page.getByLabel("Token").waitFor();
  expect(await page.evaluate(() => JSON.stringify(Object.entries(sessionStorage)))).not.toContain(TOKEN);
});
