// Sources of tools where connections are kept: in this process. `sources.isolate.ts` stands for this file inside an isolate.

import { isToolSource, type ToolSource } from "./tool-source.ts";
import type { Toolset } from "./tool.ts";

export { mcpTools } from "./mcp/mcp-tools.ts";

/** Undefined where it is a set of tools. */
export function asSource(value: Toolset | ToolSource): ToolSource | undefined {
  return isToolSource(value) ? value : undefined;
}
