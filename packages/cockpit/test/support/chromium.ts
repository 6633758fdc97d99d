// The browser that the tests, the benchmark and the screenshots drive
// ===================================================================
// B1. A clone that ran `npm ci` has one: the package @sparticuz/chromium brings it for Linux on x64, compressed. It is
//     unpacked once per version, beside the other caches, under a name that is there whole or not at all.
// B2. `PERDURE_CHROMIUM` names another; on other machines the Chrome that is installed there is asked for.
// B3. What that package advises to start it with is not used: it switches off the very protections that are tested here.

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium, type Browser, type LaunchOptions } from "playwright-core";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const PACKAGE = "@sparticuz/chromium";
const EXECUTABLE = "chromium";
/** Shared libraries that a bare machine may lack; the package has them for one without a desktop. */
const LIBRARIES = join("al2023", "lib");

/** Starts one. Whoever starts it closes it. */
export async function launchChromium(args: readonly string[] = []): Promise<Browser> {
  const options: LaunchOptions = { args: [...args], chromiumSandbox: false };
  const named = process.env["PERDURE_CHROMIUM"];
  if (named !== undefined && named !== "") return chromium.launch({ ...options, executablePath: named });
  const folder = unpackedChromium();
  if (folder === null) return chromium.launch({ ...options, channel: "chrome" }).catch(missing);
  return chromium.launch({
    ...options,
    executablePath: join(folder, EXECUTABLE),
    env: { ...process.env, ...environmentFor(folder) },
  });
}

function missing(error: unknown): never {
  const message = `no browser for the tests: set PERDURE_CHROMIUM to the path of a Chromium or Chrome on this machine (${String(error)})`;
  throw new Error(message, { cause: error });
}

/** B1. The folder with the executable; null where the package has none for this machine. */
export function unpackedChromium(): string | null {
  if (process.platform !== "linux" || process.arch !== "x64") return null;
  const entry = createRequire(import.meta.url).resolve(PACKAGE);
  const { version } = JSON.parse(readFileSync(join(dirname(entry), "..", "package.json"), "utf8")) as {
    readonly version: string;
  };
  const caches = join(ROOT, "node_modules", ".cache", "perdure");
  const folder = join(caches, `chromium-${version}`);
  if (existsSync(folder)) return folder;
  mkdirSync(caches, { recursive: true });
  const part = mkdtempSync(`${folder}.part-`);
  unpackInto(part, entry);
  try {
    renameSync(part, folder);
  } catch (error) {
    rmSync(part, { recursive: true, force: true });
    if (!existsSync(folder)) throw error; // Otherwise another process was first, with the same.
  }
  return folder;
}

/** The package unpacks into the folder for temporary files: that of a process of its own. */
function unpackInto(folder: string, entry: string): void {
  const script = `
    const { default: chromium, inflate } = await import(${JSON.stringify(pathToFileURL(entry).href)});
    await chromium.executablePath();
    await inflate(${JSON.stringify(join(dirname(entry), "..", "bin", "al2023.tar.br"))});
  `;
  execFileSync(process.execPath, ["--input-type=module", "--eval", script], {
    env: { ...process.env, TMPDIR: folder },
    stdio: ["ignore", "ignore", "inherit"],
  });
}

function environmentFor(folder: string): Record<string, string> {
  const { stdout } = spawnSync("ldd", [join(folder, EXECUTABLE)], { encoding: "utf8" });
  const lacksLibraries = stdout.includes("not found");
  return {
    ...(lacksLibraries ? { LD_LIBRARY_PATH: join(folder, LIBRARIES) } : {}),
    ...(existsSync("/etc/fonts/fonts.conf") ? {} : { FONTCONFIG_PATH: join(folder, "fonts") }),
  };
}
