// Colours: on a terminal only, and as NO_COLOR and FORCE_COLOR say.

import { styleText } from "node:util";
import type { Io, OutputStream } from "./io.ts";

type Format = Parameters<typeof styleText>[0];

export type Paint = (format: Format, text: string) => string;

export function paintFor(stream: OutputStream, env: Io["env"]): Paint {
  if (!hasColours(stream, env)) return (_, text) => text;
  return (format, text) => (text === "" ? "" : styleText(format, text, { validateStream: false }));
}

function hasColours(stream: OutputStream, env: Io["env"]): boolean {
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  if ((env["NO_COLOR"] ?? "") !== "" || env["TERM"] === "dumb") return false;
  return stream.isTTY === true;
}

/** Red where a person has to look, green where all is well, yellow in between. */
const STATUS_FORMATS: Readonly<Record<string, Format>> = {
  scheduled: "cyan",
  queued: "cyan",
  running: "blue",
  suspended: "cyan",
  retrying: "yellow",
  paused: ["bold", "red"],
  succeeded: "green",
  failed: "red",
  cancelled: "yellow",
  killed: "yellow",
};

export function paintStatus(paint: Paint, status: string, text: string = status): string {
  return paint(STATUS_FORMATS[status] ?? "reset", text);
}
