// Other pages in the same browser: they can neither read what the runtime knows, nor make it do anything, nor put its pages
// into theirs, whatever name they are led to it by. And the watch that all these tests rely on sees what it has to see.

import { createServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { launchChromium } from "../support/chromium.ts";
import { Cockpit } from "../support/cockpit.ts";
import { DESK } from "../support/server.ts";
import { eventually, useWorld } from "../support/world.ts";

const world = useWorld(() => ({ files: [DESK] }));

let evil: HttpServer;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let run: string;

beforeAll(async () => {
  // A name that its owner lets point at this machine, once somebody has loaded a page of it.
  browser = await launchChromium(["--host-resolver-rules=MAP evil.test 127.0.0.1"]);
  evil = createServer((_, response) => {
    response.setHeader("content-type", "text/html");
    response.end("<!doctype html><title>elsewhere</title><body></body>");
  });
  await new Promise<void>((listening) => evil.listen(0, "127.0.0.1", listening));
  run = await world.server.send("desk/waits", { before: "a secret step" });
});
afterAll(async () => {
  await browser.close();
  await new Promise((closed) => evil.close(closed));
});
afterEach(() => context.close());

async function visit(url: string): Promise<void> {
  context = await browser.newContext();
  page = await context.newPage();
  await page.goto(url);
}

const elsewhere = (): string => `http://evil.test:${(evil.address() as AddressInfo).port}/`;
/** Under the name that was made to lead here. */
const rebound = (path: string): string => `http://evil.test:${new URL(world.server.url).port}${path}`;

const isAlive = async (): Promise<boolean> => ["running", "suspended"].includes(await world.server.statusOf(run));

describe("a page of elsewhere", () => {
  test.each(["/runs", "/events", "/ui/", "/health", "/openapi.json"])("cannot read %s", async (path) => {
    await visit(elsewhere());
    const ask = (mode: "cors" | "no-cors"): Promise<string> =>
      page.evaluate(
        async ({ url, mode }) => {
          const response = await fetch(url, { mode, credentials: "include" });
          return response.type === "opaque" ? `nothing${await response.text()}` : response.text();
        },
        { url: world.server.url + path, mode },
      );
    await expect(ask("cors")).rejects.toThrow("Failed to fetch");
    expect(await ask("no-cors").catch(() => "nothing")).toBe("nothing");
  });

  test("cannot load an answer as a script, a style, a picture or a frame", async () => {
    await visit(elsewhere());
    const became = await page.evaluate(async (url) => {
      const load = (element: HTMLElement, attribute: string, address: string): Promise<string> =>
        new Promise((done) => {
          element.addEventListener("load", () => done("loaded"));
          element.addEventListener("error", () => done("refused"));
          element.setAttribute(attribute, address);
          document.body.append(element);
        });
      const link = document.createElement("link");
      link.rel = "stylesheet";
      return Promise.all([
        load(document.createElement("script"), "src", `${url}/runs`),
        load(link, "href", `${url}/runs`),
        load(document.createElement("img"), "src", `${url}/ui/icon.svg`),
      ]);
    }, world.server.url);
    expect(became).toEqual(["refused", "refused", "refused"]);
  });

  test("cannot put the cockpit into a frame", async () => {
    await visit(elsewhere());
    await page.evaluate((url): void => {
      const frame = document.createElement("iframe");
      frame.src = url;
      document.body.append(frame);
    }, `${world.server.url}/ui/runs`);
    await eventually(async () => page.frames().length, 2);
    const framed = page.frames()[1];
    await framed?.waitForLoadState();
    expect(await framed?.locator("#app").count()).toBe(0);
  });

  test("cannot keep a hand on a window of the cockpit that it opened", async () => {
    await visit(elsewhere());
    const [opened] = await Promise.all([
      context.waitForEvent("page"),
      page.evaluate((url) => {
        Object.assign(window, { opened: open(url) });
      }, `${world.server.url}/ui/runs`),
    ]);
    await opened.getByRole("heading", { name: "Runs" }).waitFor();
    expect(await opened.evaluate(() => window.opener === null)).toBe(true);
    expect(await page.evaluate(() => (window as unknown as { readonly opened: Window }).opened.closed)).toBe(true);
  });

  test("cannot make the runtime do anything, by a request or by a form", async () => {
    await visit(elsewhere());
    for (const body of ['{"filter":{},"all":true}', ""]) {
      await page.evaluate(
        async ({ url, body }) => fetch(url, { method: "POST", mode: "no-cors", credentials: "include", body }),
        { url: `${world.server.url}/runs/kill`, body },
      );
    }
    await page.evaluate((action) => {
      const form = document.createElement("form");
      Object.assign(form, { method: "post", action, enctype: "text/plain" });
      document.body.append(form);
      form.submit();
    }, `${world.server.url}/runs/${run}/kill`);
    await page.waitForURL(/kill$/);
    expect(await page.textContent("body")).toContain("P0034");
    expect(await isAlive()).toBe(true);
  });
});

test("a name that was made to lead here leads nowhere: DNS rebinding", async () => {
  for (const path of ["/ui/", "/runs", "/events"]) {
    await visit(rebound(path));
    expect(await page.textContent("body"), path).toContain("P0034");
    expect(await page.textContent("body")).not.toContain("secret");
    await context.close();
  }
  await visit(rebound("/ui/"));
  const asked = await page.evaluate(async (id) => {
    const answers = [await fetch("/runs"), await fetch(`/runs/${id}/kill`, { method: "POST" })];
    return answers.map(({ status }) => status);
  }, run);
  expect(asked).toEqual([403, 403]);
  expect(await isAlive()).toBe(true);
});

describe("the watch over the cockpit's pages", () => {
  test.each([
    ["a script that is run", (): void => window.pwned?.("it was"), "a script was run: it was"],
    [
      "a picture of elsewhere",
      (): void => {
        const picture = document.createElement("img");
        picture.src = "https://leak.test/pixel.png";
        document.body.append(picture);
      },
      "the policy refused img-src: https://leak.test/pixel.png",
    ],
    [
      "an inline script",
      (): void => {
        const script = document.createElement("script");
        try {
          script.text = "window.pwned('inline')";
        } catch {
          // Refused already where a text becomes a script: by trusted types.
        }
        document.body.append(script);
      },
      "the policy refused require-trusted-types-for",
    ],
    ["a dialog", (): void => void setTimeout(() => alert("hello")), "a dialog: hello"],
    ["an error that nobody caught", (): void => void Promise.reject(new Error("lost")), "an uncaught error"],
    ["another page", (): void => void open("about:blank"), "another page was opened"],
  ] as const)("sees %s", async (_, does, seen) => {
    const cockpit = await Cockpit.open(world.browser, world.server, "/runs");
    context = cockpit.page.context();
    await cockpit.page.getByRole("heading", { name: "Runs" }).waitFor();
    await cockpit.page.evaluate(does);
    await eventually(async () => cockpit.problems.some((problem) => problem.includes(seen)), true);
  });
});
