// Cockpit
// =======
// The cockpit in a real browser, without a screen and without a graphics card: Chromium draws by the processor, on the same two
// cores that the server and the load have.
//
//   events.<view>   at 1,000 events a second for ten seconds: times between frames, the share that was left out, and how busy
//                   the page's thread is
//   journal.<how>   the same while a run of 10,000 entries is scrolled through
//   first.<view>    bytes of the first visit, compressed by gzip; and until the view is there, from an empty cache
//   runs            until the first row of the runs is there, with 100,000 of them in the store

import { setTimeout as sleep } from "node:timers/promises";
import { launchChromium } from "@perdure/cockpit/testing/chromium";
import type { Browser, Page } from "playwright-core";
import { type BenchOptions, type Figures, median, progress, round } from "./bench.ts";
import { measureFrames, type FrameReport } from "./cockpit/frames.ts";
import { openPage } from "./cockpit/page.ts";
import { countEvents, send, startTraffic } from "./cockpit/traffic.ts";
import { type RunningPerdure, startPerdure } from "./perdure/start.ts";

const EVENT_SECONDS = 10;
const ENTRIES = 10_000;
const RUNS = 100_000;
const RUNS_AT_ONCE = 64;
const SCROLL_SECONDS = 5;
/** Pixels a frame: a wheel that is turned fast, and the bar that is dragged from end to end. */
const SCROLLS = [
  ["wheel", 120],
  ["drag", 930],
] as const;

export async function run(options: BenchOptions): Promise<Figures> {
  const browser = await launchChromium();
  const server = await startPerdure({ handlers: "cockpit-load.ts" });
  try {
    const tries = options.long ? 7 : 3;
    return {
      ...(await firstVisits(browser, server, tries)),
      ...(await journal(browser, server)),
      ...(await events(browser, server)),
      ...(await manyRuns(browser, server, tries)),
    };
  } finally {
    await browser.close();
    await server.stop();
  }
}

/** A route, and what is in the page when it is there. */
type View = readonly [name: string, path: string, sign: string];

async function firstVisits(browser: Browser, { admin, url }: RunningPerdure, tries: number): Promise<Figures> {
  const run = await send(url, "steps", { count: 20 });
  const views: readonly View[] = [
    ["overview", "/", ".figure"],
    ["runs", "/runs", ".virtual-row"],
    ["run", `/runs/${run}`, ".wf-row"],
    ["approvals", "/approvals", ".approvals-page .state"],
    ["services", "/services", ".service-row"],
    ["state", "/state", ".state-page h1"],
    ["schedules", "/schedules", "main h1"],
    ["sql", "/sql", ".sql-examples"],
  ];
  const figures: Record<string, number> = {};
  for (const [name, path, sign] of views) {
    const visits = [];
    for (let visit = 0; visit < tries; visit += 1) {
      const { page, ms, gzipBytes } = await openPage(browser, admin, path, sign);
      visits.push({ ms, gzipBytes });
      await page.context().close();
    }
    figures[`first.${name}.gzip_bytes`] = median(visits.map(({ gzipBytes }) => gzipBytes));
    figures[`first.${name}.shown_ms`] = round(median(visits.map(({ ms }) => ms)));
    progress(`first visit of ${name}: ${figures[`first.${name}.gzip_bytes`]} bytes`);
  }
  return figures;
}

async function journal(browser: Browser, { admin, url }: RunningPerdure): Promise<Figures> {
  const run = await send(url, "steps", { count: ENTRIES });
  await ended(admin, run);
  const { page, ms } = await openPage(browser, admin, `/runs/${run}`, ".wf-row");
  await allLoaded(page);
  const loadedMs = await page.evaluate<number>("performance.now()");
  const figures: Record<string, number> = { "journal.first_row_ms": round(ms), "journal.loaded_ms": round(loadedMs) };
  for (const [name, pixels] of SCROLLS) {
    const frames = await measureFrames(page, () => scroll(page, pixels));
    Object.assign(figures, named(`journal.${name}`, frames));
    progress(`a journal of ${ENTRIES} entries, ${name}: ${frames.p95_ms.toFixed(1)} ms between frames at the 95th`);
  }
  await page.context().close();
  return figures;
}

/** So many pixels in each frame, from the top. */
async function scroll(page: Page, pixels: number): Promise<void> {
  await page.evaluate(`new Promise((done) => {
    const element = document.querySelector(".waterfall-scroll");
    let top = 0;
    const began = performance.now();
    const step = () => {
      top += ${pixels};
      element.scrollTop = top;
      if (performance.now() - began < ${SCROLL_SECONDS * 1_000}) requestAnimationFrame(step); else done();
    };
    requestAnimationFrame(step);
  })`);
}

/** The page reads a journal page by page, and says how far it is. */
async function allLoaded(page: Page): Promise<void> {
  await page.locator(".waterfall header .dim").waitFor({ state: "detached", timeout: 60_000 });
}

async function events(browser: Browser, { admin, url }: RunningPerdure): Promise<Figures> {
  const figures: Record<string, number> = {};
  for (const name of ["overview", "runs", "run"] as const) {
    const traffic = await startTraffic(url, EVENT_SECONDS + 6);
    const [path, sign] = {
      overview: ["/", ".figure"],
      runs: ["/runs", ".virtual-row"],
      run: [`/runs/${traffic.run}`, ".wf-row"],
    }[name] as [string, string];
    const { page } = await openPage(browser, admin, path, sign);
    await sleep(2_000); // Charts and the like are loaded.
    let frames: FrameReport | undefined;
    const rate = await countEvents(admin, async () => {
      frames = await measureFrames(page, () => sleep(EVENT_SECONDS * 1_000));
    });
    await page.context().close();
    await traffic.over;
    if (frames === undefined) throw new Error("nothing was measured");
    figures[`events.${name}.per_s`] = round(rate);
    Object.assign(figures, named(`events.${name}`, frames));
    progress(
      `${name} at ${rate.toFixed(0)} events a second: ${frames.p95_ms.toFixed(1)} ms at the 95th, ${frames.dropped_percent.toFixed(1)} % left out`,
    );
    await sleep(1_000);
  }
  return figures;
}

async function manyRuns(browser: Browser, { admin, url }: RunningPerdure, tries: number): Promise<Figures> {
  let sent = 0;
  const caller = async (): Promise<void> => {
    while (sent < RUNS) {
      sent += 1;
      if (sent % 20_000 === 0) progress(`${sent} runs`);
      await send(url, "nothing", null);
    }
  };
  await Promise.all(Array.from({ length: RUNS_AT_ONCE }, caller));
  const figures: Record<string, number> = {};
  const views: readonly View[] = [
    ["runs", "/runs", ".virtual-row"],
    ["runs-oldest", "/runs?order=oldest&service=load", ".virtual-row"],
    ["overview", "/", ".figure b"],
  ];
  for (const [name, path, sign] of views) {
    const times = [];
    for (let visit = 0; visit < tries; visit += 1) {
      const { page, ms } = await openPage(browser, admin, path, sign);
      times.push(ms);
      await page.context().close();
    }
    figures[`of-100000.${name}.shown_ms`] = round(median(times));
  }
  return figures;
}

function named(name: string, report: FrameReport): Figures {
  return Object.fromEntries(
    Object.entries(report).map(([metric, value]) => [`${name}.${metric}`, round(value as number)]),
  );
}

async function ended(admin: string, run: string): Promise<void> {
  for (;;) {
    const response = await fetch(`${admin}/runs/${run}?journalLimit=1`);
    const { run: now } = (await response.json()) as { run: { status: string } };
    if (now.status === "succeeded") return;
    await sleep(100);
  }
}
