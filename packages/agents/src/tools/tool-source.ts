// Where tools come from that are not known when an agent is defined
// =================================================================
// A source is asked at the beginning of each turn, within a journaled step, for what it offers. An offer is data: it is kept
// in the session's streams, and a turn works with the tools of its offer to the end, whatever the source says by then.

import type { JSONSchema7 } from "@ai-sdk/provider";
import type { ToolKind } from "../permissions/types.ts";
import type { Toolset } from "./tool.ts";

/** A tool as its source describes it. */
export interface OfferedTool {
  /** The source's own name for it. */
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: JSONSchema7;
  readonly kind: ToolKind;
}

export interface Offer {
  /** Of the tools: the same list has the same hash. */
  readonly hash: string;
  readonly tools: readonly OfferedTool[];
}

export interface ToolSource {
  /** Unique among an agent's sources. */
  readonly source: string;
  /** An agent may work without it, where it cannot be asked. */
  readonly optional: boolean;
  /** What it offers now. Asked within a step. */
  offered(info: { readonly signal: AbortSignal }): Promise<readonly OfferedTool[]>;
  /** The tools of an offer, by the names that models call them. */
  toolset(offer: Offer): Toolset;
  /** Lets go of what it holds (connections, processes). It can be asked again. */
  close(): Promise<void>;
}

export function isToolSource(value: Toolset | ToolSource): value is ToolSource {
  return typeof (value as ToolSource).source === "string" && typeof (value as ToolSource).offered === "function";
}
