// mcpTools(): the tools of an MCP server
// ======================================
//   agent("helper", { model, tools: [{ search }, mcpTools("github", { url: "https://example.com/mcp", headers })] })
//
// The server is asked for its tools at the beginning of each turn. Models see them under `<name>_<tool>`, which is what
// permission rules fit (`github_*`). A call is a step: journaled once, and sent with an idempotency key in its `_meta`.

import type { JSONObject, JSONSchema7, JSONValue } from "@ai-sdk/provider";
import type { MCPClient } from "@ai-sdk/mcp";
import { DefinitionError, TerminalError, type DurationLike } from "@perdure/sdk";
import { parseDuration, sha256 } from "@perdure/protocol";
import { jsonSchema } from "ai";
import { matchesGlob, parseGlob, type Glob } from "../../permissions/glob.ts";
import type { ToolApproval, ToolKind } from "../../permissions/types.ts";
import { tool, type AnyTool, type ToolInfo, type Toolset } from "../tool.ts";
import type { Offer, OfferedTool, ToolSource } from "../tool-source.ts";
import { Connection, type McpServer } from "./connection.ts";
import { mcpFailure } from "./failure.ts";
import { withKey } from "./message-meta.ts";

export interface McpToolsOptions {
  /** Only these tools of the server; globs such as `list_*`. Default: all. */
  readonly include?: readonly string[];
  /** Not these. */
  readonly exclude?: readonly string[];
  /**
   * What its tools do, by the server's names where they differ. `hints` believes what the server says of its tools itself.
   * Default: all write.
   */
  readonly kind?: ToolKind | "hints" | Readonly<Record<string, ToolKind>>;
  /** Ask a person first; by the server's names where they differ. */
  readonly approval?: ToolApproval | Readonly<Record<string, ToolApproval>>;
  /** A call that takes longer has failed. Default: one minute. */
  readonly timeout?: DurationLike;
  /** Turns go on without its tools where it cannot be asked for them. Default: they wait for it. */
  readonly optional?: boolean;
}

type Listed = Awaited<ReturnType<MCPClient["listTools"]>>["tools"][number];
type Result = Awaited<ReturnType<MCPClient["callTool"]>>;

const NAME = /^[A-Za-z0-9-]{1,40}$/;
const TIMEOUT = "1m";
/** Servers say the list in pages; one that never ends is not followed for ever. */
const PAGES_MAX = 100;

/** @throws DefinitionError */
export function mcpTools(name: string, server: McpServer, options: McpToolsOptions = {}): ToolSource {
  if (!NAME.test(name))
    throw new DefinitionError(
      `mcpTools("${name}", …): the name has 1 to 40 letters, digits and "-": its tools begin with it`,
    );
  return new McpSource(name, server, options);
}

class McpSource implements ToolSource {
  readonly source: string;
  readonly optional: boolean;
  readonly #options: McpToolsOptions;
  readonly #include: readonly Glob[] | undefined;
  readonly #exclude: readonly Glob[];
  readonly #timeoutMs: number;
  readonly #connection: Connection;
  /** Of the offer that was asked for last: most turns have the same. */
  #last: { readonly hash: string; readonly toolset: Toolset } | undefined;

  constructor(name: string, server: McpServer, options: McpToolsOptions) {
    this.source = name;
    this.optional = options.optional === true;
    this.#options = options;
    this.#include = options.include?.map((pattern) => globOf(name, pattern));
    this.#exclude = (options.exclude ?? []).map((pattern) => globOf(name, pattern));
    this.#timeoutMs = parseDuration(options.timeout ?? TIMEOUT);
    this.#connection = new Connection(server);
  }

  async offered({ signal }: { readonly signal: AbortSignal }): Promise<readonly OfferedTool[]> {
    const list = await this.#ask(
      { what: `the tools of MCP server "${this.source}"`, repeatable: true },
      signal,
      (limit) => this.#connection.use(signal, (client) => listAll(client, limit)),
    );
    return list.filter(({ name }) => this.#isWanted(name)).map((one) => this.#describe(one));
  }

  toolset({ hash, tools }: Offer): Toolset {
    if (this.#last?.hash !== hash) this.#last = { hash, toolset: this.#build(tools) };
    return this.#last.toolset;
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  #isWanted(name: string): boolean {
    const fits = (glob: Glob): boolean => matchesGlob(glob, name);
    return (this.#include?.some(fits) ?? true) && !this.#exclude.some(fits);
  }

  #describe({ name, title, description = title, inputSchema, annotations }: Listed): OfferedTool {
    const { kind = "write" } = this.#options;
    const hinted = annotations?.readOnlyHint === true ? "read" : "write";
    const byName = typeof kind === "object" ? (Object.hasOwn(kind, name) ? kind[name] : undefined) : kind;
    return {
      name,
      ...(description === undefined ? {} : { description }),
      inputSchema: inputSchema as JSONSchema7,
      kind: byName === "hints" ? hinted : (byName ?? "write"),
    };
  }

  #build(tools: readonly OfferedTool[]): Toolset {
    const set: Record<string, AnyTool> = {};
    for (const offered of tools) {
      const name = shownName(this.source, offered.name);
      set[Object.hasOwn(set, name) ? distinct(name, offered.name) : name] = this.#tool(offered);
    }
    return set;
  }

  #tool({ name, description, inputSchema, kind }: OfferedTool): AnyTool {
    const { approval: given } = this.#options;
    const approval = typeof given === "object" ? (Object.hasOwn(given, name) ? given[name] : undefined) : given;
    return tool<JSONObject, JSONValue>({
      kind,
      inputSchema: jsonSchema<JSONObject>(inputSchema),
      ...(description === undefined ? {} : { description }),
      ...(approval === undefined ? {} : { approval }),
      execute: (input, info) => this.#call(name, kind, input, info),
    });
  }

  async #call(name: string, kind: ToolKind, input: JSONObject, info: ToolInfo): Promise<JSONValue> {
    const what = `${name} of MCP server "${this.source}"`;
    const result = await this.#ask({ what, repeatable: kind === "read" }, info.abortSignal, (signal) =>
      this.#connection.use(info.abortSignal, (client) =>
        client.callTool({ name, arguments: withKey(input, info.idempotencyKey), options: { signal } }),
      ),
    );
    const output = outputOf(result);
    if ("isError" in result && result.isError === true)
      throw new TerminalError(typeof output === "string" ? output : JSON.stringify(output));
    return output;
  }

  async #ask<T>(
    failed: { readonly what: string; readonly repeatable: boolean },
    signal: AbortSignal,
    ask: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    try {
      return await ask(AbortSignal.any([signal, timeout]));
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw mcpFailure(error, { ...failed, ...(timeout.aborted ? { timedOutMs: this.#timeoutMs } : {}) });
    }
  }
}

async function listAll(client: MCPClient, signal: AbortSignal): Promise<readonly Listed[]> {
  const all: Listed[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const { tools, nextCursor } = await client.listTools({
      ...(cursor === undefined ? {} : { params: { cursor } }),
      options: { signal },
    });
    all.push(...tools);
    if (nextCursor === undefined || nextCursor === "") break;
    cursor = nextCursor;
  }
  return all;
}

/** What it says as data, else its text, else its parts as they are. */
function outputOf(result: Result): JSONValue {
  if ("structuredContent" in result && result.structuredContent !== undefined)
    return result.structuredContent as JSONValue;
  if (!("content" in result) || !Array.isArray(result.content)) return result as unknown as JSONValue;
  const content = result.content as readonly { readonly type: string; readonly text?: unknown }[];
  const texts = content.flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [text] : []));
  return texts.length === content.length ? texts.join("\n") : (content as unknown as JSONValue);
}

// Names
// -----

const NAME_LENGTH_MAX = 64;
const HASH_DIGITS = 8;

/** What providers take: letters, digits, `_` and `-`, 64 at most. */
function shownName(source: string, name: string): string {
  const shown = `${source}_${name.replace(/[^A-Za-z0-9_-]/g, "_")}`;
  return shown.length <= NAME_LENGTH_MAX ? shown : distinct(shown, name);
}

function distinct(shown: string, name: string): string {
  return `${shown.slice(0, NAME_LENGTH_MAX - HASH_DIGITS - 1)}_${sha256(name).slice(0, HASH_DIGITS)}`;
}

function globOf(name: string, pattern: string): Glob {
  const glob = parseGlob(pattern);
  if (glob === undefined || pattern === "")
    throw new DefinitionError(`mcpTools("${name}", …): "${pattern}" is no tool's name and no glob such as "list_*"`);
  return glob;
}
