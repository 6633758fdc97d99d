// Where in the user's code a call comes from: the first frame that is neither Node's, nor ours, nor a dependency's.

import { dirname, sep } from "node:path";
import { fileURLToPath } from "node:url";

export interface CallSite {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** `file:line:column` */
  readonly text: string;
}

const FRAMES = 30;
/** The folder of a package of ours, wherever it is installed: this file's package and its siblings. */
const OWN = ownFolders();

function ownFolders(): readonly string[] {
  // …/packages/host/{src,dist}/guard/call-site.* in the repository, …/@perdure/host/dist/guard/… when installed.
  const host = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
  const siblings = dirname(host);
  return ["protocol", "engine", "sdk", "host", "agents", "perdure", "sim"].map(
    (name) => `${siblings}${sep}${name}${sep}`,
  );
}

/** @param through what the user called there may call: null for what comes by way of it. */
export function callSite(through?: RegExp): CallSite | null {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = FRAMES;
  const { stack } = new Error();
  Error.stackTraceLimit = limit;
  for (const frame of (stack ?? "").split("\n").slice(2)) {
    if (through?.test(frame) === true) return null;
    const site = parseFrame(frame);
    if (site !== null) return site;
  }
  return null;
}

/** The place that a stack frame names, or null where it is not the user's. Exported for tests. */
export function parseFrame(frame: string, own: readonly string[] = OWN): CallSite | null {
  const match = /(?:\(|at (?:async )?)((?:file:\/\/)?\/[^()]*?|[A-Za-z]:[^()]*?):(\d+):(\d+)\)?$/.exec(frame);
  if (match === null) return null;
  const [, place = "", line = "", column = ""] = match;
  const file = place.startsWith("file://") ? fileURLToPath(place.split("?")[0] ?? place) : place;
  if (file.includes(`${sep}node_modules${sep}`)) return null;
  if (own.some((folder) => file.startsWith(folder) && !isTestFile(file))) return null;
  return { file, line: Number(line), column: Number(column), text: `${file}:${line}:${column}` };
}

function isTestFile(file: string): boolean {
  return /\.test\.[cm]?[jt]s$/.test(file) || file.includes(`${sep}fixtures${sep}`);
}
