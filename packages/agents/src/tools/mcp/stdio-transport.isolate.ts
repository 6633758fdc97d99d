// In an isolate there are no child processes.

import { DefinitionError } from "@perdure/protocol";
import type * as node from "./stdio-transport.ts";

class NoStdioTransport {
  constructor({ command }: node.StdioServer) {
    throw new DefinitionError(
      `the MCP server "${command}" is a program, and inside an isolate no program can be started: give mcpTools() the url of a ` +
        'server, or leave the agent at memory: "journal"',
    );
  }
}

export const StdioTransport: typeof node.StdioTransport = NoStdioTransport as never;
