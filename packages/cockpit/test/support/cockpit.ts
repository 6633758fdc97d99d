// The cockpit in a real browser, watched: whatever a page does that it must not do is written down
// ================================================================================================
// W1. Errors: an exception that nobody caught, a message of the console that is an error.
// W2. Breaches: a dialog, something that the page's policy had to refuse, a request that leaves for another address, a page
//     that opens another one. An injected script can do nothing without one of them, or without `window.pwned`.
// W3. A lost connection is no error, and neither is a request that the server refuses: the browser says so in the console, and
//     the page says so to the viewer.

import type { Browser, BrowserContext, Page } from "playwright-core";
import type { Server } from "./server.ts";

export type Theme = "light" | "dark";
export type Language = "en" | "zh";

export interface Look {
  readonly theme?: Theme;
  readonly language?: Language;
  readonly width?: number;
  readonly height?: number;
  /** Pixels of the screen to one of the page: for pictures. */
  readonly scale?: number;
}

export const DESKTOP_PX = 1_280;
export const PHONE_PX = 360;
const HEIGHT_PX = 860;
/** How long a page may take on two very busy cores to show what it was asked for. */
export const PATIENCE_MS = 45_000;

declare global {
  interface Window {
    /** What the corpus of injections calls. */
    pwned?: (what: string) => void;
  }
}

export class Cockpit {
  readonly page: Page;
  readonly problems: string[] = [];
  readonly #server: Server;
  readonly #context: BrowserContext;

  private constructor(server: Server, context: BrowserContext, page: Page) {
    this.#server = server;
    this.#context = context;
    this.page = page;
  }

  /** A page of nobody's cookies, storage or cache; closed by `close`. */
  static async open(browser: Browser, server: Server, path = "/", look: Look = {}): Promise<Cockpit> {
    const { theme = "light", language = "en", width = DESKTOP_PX, height = HEIGHT_PX, scale = 1 } = look;
    const context = await browser.newContext({
      viewport: { width, height },
      deviceScaleFactor: scale,
      locale: language === "zh" ? "zh-CN" : "en-GB",
      timezoneId: "Europe/Berlin",
      reducedMotion: "reduce",
    });
    context.setDefaultTimeout(PATIENCE_MS);
    await context.addInitScript(prepare, { theme, language });
    const page = await context.newPage();
    const cockpit = new Cockpit(server, context, page);
    await cockpit.#watch();
    await cockpit.goto(path);
    return cockpit;
  }

  async goto(path: string): Promise<void> {
    await this.page.goto(`${this.#server.url}/ui${path}`);
  }

  /** What is in the address, without the server's own part. */
  get path(): string {
    return this.page.url().replace(`${this.#server.url}/ui`, "");
  }

  /** Keys one after the other, as they are written in the help: `g r`, `j`, `Enter`. */
  async press(...keys: readonly string[]): Promise<void> {
    for (const key of keys.flatMap((some) => some.split(" "))) await this.page.keyboard.press(key);
  }

  async close(): Promise<void> {
    await this.#context.close();
  }

  async #watch(): Promise<void> {
    const note = (text: string): void => void this.problems.push(text);
    await this.page.exposeFunction("pwned", (what: string) => note(`a script was run: ${what}`));
    await this.page.exposeFunction("reportBreach", note);
    this.page.on("pageerror", (error) => note(`an uncaught error: ${error.stack ?? error.message}`));
    this.page.on("dialog", (dialog) => {
      note(`a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    this.page.on("console", (message) => {
      if (message.type() === "error" && !isAnswered(message.text())) note(`the console: ${message.text()}`);
    });
    this.#context.on("page", (other) => {
      if (other !== this.page) note(`another page was opened: ${other.url()}`);
    });
    this.#context.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(`${this.#server.url}/`) && !url.startsWith("data:image/")) note(`a request leaves: ${url}`);
    });
  }
}

/** W3. */
function isAnswered(text: string): boolean {
  return /^Failed to load resource: (?:net::ERR_|the server responded with a status of 4\d\d )/.test(text);
}

/** Runs in the page, before anything of its own. */
function prepare({ theme, language }: { readonly theme: Theme; readonly language: Language }): void {
  localStorage.setItem("perdure.theme", theme);
  localStorage.setItem("perdure.language", language);
  document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sample }) => {
    const { reportBreach } = window as unknown as { readonly reportBreach: (text: string) => void };
    reportBreach(`the policy refused ${violatedDirective}: ${blockedURI} ${sample}`);
  });
}
