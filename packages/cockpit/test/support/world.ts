// What a file of browser tests shares: one server, one browser; a page for each test, which must have had no problems.

import { afterAll, afterEach, beforeAll, expect, vi } from "vitest";
import type { Browser } from "playwright-core";
import { launchChromium } from "./chromium.ts";
import { Cockpit, PATIENCE_MS, type Look } from "./cockpit.ts";
import { Server, type ServerOptions } from "./server.ts";

export interface World {
  readonly server: Server;
  readonly browser: Browser;
  open(path?: string, look?: Look): Promise<Cockpit>;
}

/** @param options what is served; asked for when the file begins. */
export function useWorld(options: () => ServerOptions | Promise<ServerOptions>): World {
  let server: Server | undefined;
  let browser: Browser | undefined;
  const opened: Cockpit[] = [];
  beforeAll(async () => {
    [server, browser] = await Promise.all([Promise.resolve(options()).then(Server.start), launchChromium()]);
  });
  afterEach(async () => {
    const pages = opened.splice(0);
    const problems = pages.flatMap((page) => page.problems);
    await Promise.all(pages.map((page) => page.close()));
    expect(problems).toEqual([]);
  });
  afterAll(async () => {
    await Promise.all([browser?.close(), server?.close()]);
  });
  const the = <Thing>(thing: Thing | undefined): Thing => {
    if (thing === undefined) throw new Error("it is there only while tests run");
    return thing;
  };
  return {
    get server() {
      return the(server);
    },
    get browser() {
      return the(browser);
    },
    async open(path, look) {
      const cockpit = await Cockpit.open(the(browser), the(server), path, look);
      opened.push(cockpit);
      return cockpit;
    },
  };
}

/** Asks until the answer is the one; the failure shows the last one. */
export async function eventually<Value>(ask: () => Promise<Value>, expected: Value): Promise<void> {
  const isSo = async (): Promise<void> => expect(await ask()).toEqual(expected);
  await vi.waitFor(isSo, { timeout: PATIENCE_MS, interval: 50 });
}
