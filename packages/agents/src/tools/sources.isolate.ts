// Sources of tools as an isolate has them: a host module exports the source, which is asked through the host, see
// `host-sources.ts`. Stands there for `sources.ts`.

import { DefinitionError } from "@perdure/protocol";
import { hostReference } from "@perdure/sdk";
import { hostFunction } from "@perdure/sdk/guest";
import { jsonSchema } from "ai";
import { HOST, OFFERED, TOOL, type HostTool } from "./host-tool.ts";
import type * as node from "./sources.ts";
import type { Offer, ToolSource } from "./tool-source.ts";
import { tool, type AnyTool, type Toolset } from "./tool.ts";

export const mcpTools: typeof node.mcpTools = (name) => {
  throw new DefinitionError(
    `mcpTools("${name}", …) keeps a connection, and connections are kept in Node: call it in a module that begins with "use host", ` +
      "export what it gives, and put that among the agent's tools",
  );
};

export const asSource: typeof node.asSource = (value) => {
  const reference = hostReference(value);
  return reference === undefined ? undefined : new HostSource(reference, value as ToolSource);
};

const askOffered = hostFunction(HOST, OFFERED);
const callTool = hostFunction(HOST, TOOL);

class HostSource implements ToolSource {
  readonly source: string;
  readonly optional: boolean;
  readonly #reference: string;

  constructor(reference: string, { source, optional }: Pick<ToolSource, "source" | "optional">) {
    this.#reference = reference;
    this.source = source;
    this.optional = optional;
  }

  async offered(info: { readonly signal: AbortSignal }): Promise<readonly HostTool[]> {
    return (await askOffered(this.#reference, info)) as readonly HostTool[];
  }

  toolset({ tools }: Offer): Toolset {
    return Object.fromEntries((tools as readonly HostTool[]).map((one) => [one.shown, this.#tool(one)]));
  }

  /** The host's, which is open for all. */
  async close(): Promise<void> {}

  #tool(described: HostTool): AnyTool {
    const { description, inputSchema, kind, approval } = described;
    return tool({
      kind,
      inputSchema: jsonSchema(inputSchema),
      ...(description === undefined ? {} : { description }),
      ...(approval === undefined ? {} : { approval }),
      execute: (input, info) => callTool(this.#reference, described, input, info),
    });
  }
}
