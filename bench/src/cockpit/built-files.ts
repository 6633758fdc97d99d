// The built files that a page has loaded, and how many bytes they are on the way.

import { existsSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL("../../../packages/perdure/dist/cockpit/", import.meta.url));

/** Compressed by gzip, which is what everything speaks; browsers are sent brotli, which is less. */
export function cockpitFiles(paths: readonly string[]): number {
  const files = new Set(paths.filter((path) => path.startsWith("/ui/")).map((path) => path.slice("/ui/".length)));
  let bytes = 0;
  for (const file of files) {
    const name = existsSync(FOLDER + file) && statSync(FOLDER + file).isFile() ? file : "index.html";
    bytes += statSync(existsSync(`${FOLDER}${name}.gz`) ? `${FOLDER}${name}.gz` : FOLDER + name).size;
  }
  return bytes;
}
