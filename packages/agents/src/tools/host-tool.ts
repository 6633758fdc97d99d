// A tool of a source that a host module exports, as it crosses the border of an isolate.

import type { OfferedTool } from "./tool-source.ts";

export interface HostTool extends OfferedTool {
  /** The name that models call it. */
  readonly shown: string;
  readonly approval?: "always" | "never";
}

/** The host's functions: `perdure#offered`, `perdure#tool`. */
export const HOST = "perdure";
export const OFFERED = "offered";
export const TOOL = "tool";
