// The pictures of docs/images: every view over the demo's data, light and dark, English and Chinese.
//
//   npm run pictures -w @perdure/cockpit [-- name …]
//
// They are the same each time but for ids and moments. Chromium makes PNGs; a page of it makes WebPs of them, which are a
// quarter of their size.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { launchChromium } from "../support/chromium.ts";
import { Cockpit, type Language, type Theme } from "../support/cockpit.ts";
import { setup } from "../support/global-setup.ts";
import { startDemo, type Demo } from "./seed.ts";

const FOLDER: string = fileURLToPath(new URL("../../../../docs/images", import.meta.url));
const WIDTH_PX = 1_280;
const HEIGHT_PX = 800;
/** Sharp on good screens, and still small. */
const SCALE = 1.5;
const QUALITY = 0.72;
/** What is asked for in the second place has come, and charts are drawn. */
const SETTLE_MS = 1_500;

interface Picture {
  readonly name: string;
  readonly path: (demo: Demo) => string;
  /** In the page when it is all there. */
  readonly sign: string;
}

const PICTURES: readonly Picture[] = [
  { name: "overview", path: () => "/", sign: ".chart canvas" },
  { name: "runs", path: () => "/runs", sign: ".virtual-row" },
  { name: "run", path: ({ report }) => `/runs/${report}`, sign: ".wf-row >> nth=8" },
  { name: "agents", path: () => "/agents", sign: ".agents-page a[href*=batteries]" },
  { name: "session", path: ({ session }) => `/agents/${session}`, sign: ".approval-card" },
  { name: "approvals", path: ({ approval }) => `/approvals?id=${approval}`, sign: ".inbox-detail .payload" },
  { name: "services", path: () => "/services/orders?handler=place", sign: ".handler" },
  { name: "state", path: () => "/state/cart/ada", sign: ".panel .payload" },
  { name: "schedules", path: () => "/schedules", sign: ".schedule-table tbody .row-button" },
  { name: "sql", path: () => `/sql?q=${encodeURIComponent(STATEMENT)}&view=chart`, sign: ".result-chart canvas" },
];

const STATEMENT = `SELECT service, count(*) AS runs
FROM runs
WHERE service NOT LIKE 'perdure.%'
GROUP BY service
ORDER BY runs DESC`;

const THEMES: readonly Theme[] = ["light", "dark"];
const LANGUAGES: readonly Language[] = ["en", "zh"];

async function takeAll(names: readonly string[]): Promise<void> {
  setup();
  const [demo, browser] = await Promise.all([startDemo(), launchChromium()]);
  const press = await browser.newPage();
  try {
    mkdirSync(FOLDER, { recursive: true });
    for (const picture of PICTURES.filter(({ name }) => names.length === 0 || names.includes(name))) {
      for (const language of LANGUAGES) {
        for (const theme of THEMES) {
          const png = await take(browser, demo, picture, theme, language);
          const file = `${picture.name}-${language}-${theme}.webp`;
          writeFileSync(join(FOLDER, file), await toWebp(press, png));
          console.log(file);
        }
      }
    }
  } finally {
    await Promise.all([browser.close(), demo.server.close()]);
  }
}

async function take(
  browser: Browser,
  demo: Demo,
  { path, sign }: Picture,
  theme: Theme,
  language: Language,
): Promise<Buffer> {
  const look = { theme, language, width: WIDTH_PX, height: HEIGHT_PX, scale: SCALE };
  const cockpit = await Cockpit.open(browser, demo.server, path(demo), look);
  const { page, problems } = cockpit;
  await page.locator(sign).first().waitFor();
  await page.locator("[aria-busy]").first().waitFor({ state: "detached" });
  await page.waitForTimeout(SETTLE_MS);
  const png = await page.screenshot();
  if (problems.length > 0) throw new Error(problems.join("\n"));
  await cockpit.close();
  return png;
}

async function toWebp(page: Page, png: Buffer): Promise<Buffer> {
  const address = await page.evaluate(
    async ({ png, quality }) => {
      const image = new Image();
      image.src = `data:image/png;base64,${png}`;
      await image.decode();
      const canvas = document.createElement("canvas");
      Object.assign(canvas, { width: image.width, height: image.height });
      canvas.getContext("2d")?.drawImage(image, 0, 0);
      return canvas.toDataURL("image/webp", quality);
    },
    { png: png.toString("base64"), quality: QUALITY },
  );
  return Buffer.from(address.slice(address.indexOf(",") + 1), "base64");
}

await takeAll(process.argv.slice(2));
