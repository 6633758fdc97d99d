// A page of the cockpit in a browser of its own, as somebody would have it open.

import type { Browser, Page } from "playwright-core";
import { cockpitFiles } from "./built-files.ts";

/** Opens an address of the cockpit, and waits until `sign` is there. @returns also how long it took, from the first byte on. */
export async function openPage(
  browser: Browser,
  admin: string,
  path: string,
  sign: string,
): Promise<{ readonly page: Page; readonly ms: number; readonly gzipBytes: number }> {
  const context = await browser.newContext({ viewport: { width: 1_280, height: 860 }, locale: "en-GB" });
  // Views that nobody has gone to are loaded ahead when there is time; what is measured is the one that is opened.
  await context.addInitScript("Object.defineProperty(navigator, 'connection', { value: { saveData: true } });");
  await context.addInitScript(noteFirst(sign));
  const page = await context.newPage();
  const loaded: string[] = [];
  page.on("request", (request) => loaded.push(new URL(request.url()).pathname));
  await page.goto(`${admin}/ui${path}`);
  await page.locator(sign).first().waitFor();
  const ms = await page.evaluate<number>("window.firstAt");
  return { page, ms, gzipBytes: cockpitFiles(loaded) };
}

/** In the page: when the first element of a kind was there, since the page was asked for. */
function noteFirst(sign: string): string {
  return `new MutationObserver((_, observer) => {
    if (document.querySelector(${JSON.stringify(sign)}) === null) return;
    window.firstAt = performance.now();
    observer.disconnect();
  }).observe(document, { childList: true, subtree: true });`;
}
