// Once, before all files of browser tests: the page as it is shipped, and a browser that is unpacked.

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { unpackedChromium } from "./chromium.ts";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));

export function setup(): void {
  // Nothing is built where the sources are those of the last build.
  execFileSync(process.execPath, [join(ROOT, "tools", "build-cockpit.mjs")], { cwd: ROOT, stdio: "inherit" });
  if ((process.env["PERDURE_CHROMIUM"] ?? "") === "") unpackedChromium();
}
