// What a call of an MCP server failed of, and whether it may be made again
// ========================================================================
//   refused     the server answered with an error                          the model is told
//   not let in  HTTP 401, 403; a program that does not exist               the model is told, and a person has to do something
//   not asked   it could not be reached, or was too busy to begin          again
//   unknown     it broke off, or took too long                             again where the tool only looks; else the model is told
//
// A tool that writes is not called again where nobody knows whether it was carried out: who can find that out is asked first.

import { MCPClientError } from "@ai-sdk/mcp";
import { isPerdureError, TerminalError } from "@perdure/sdk";
import { ConnectError } from "./connection.ts";

export interface FailedCall {
  /** For messages: `create_issue of MCP server "github"`. */
  readonly what: string;
  /** A repetition does no harm. */
  readonly repeatable: boolean;
  /** It was given up after so long. */
  readonly timedOutMs?: number;
}

/** The error that the step ends with (`TerminalError`), or is tried again after. */
export function mcpFailure(error: unknown, { what, repeatable, timedOutMs }: FailedCall): Error {
  if (isPerdureError(error)) return error; // Ours say themselves what they are.
  const message = timedOutMs === undefined ? (error as Error).message : `it did not answer within ${timedOutMs} ms`;
  const again = (why: string): Error => new Error(`${what}: ${why}`, { cause: error });
  const final = (why: string): Error => new TerminalError(`${what}: ${why}`, { cause: error });
  const { code, statusCode } = factsOf(error);
  if (typeof code === "number") return final(`the server refuses it: ${message} (code ${code})`);
  if (statusCode === 401 || statusCode === 403)
    return final(`the server does not let this runtime in (HTTP ${statusCode}): check the headers that it is given`);
  if (code === "ENOENT" || code === "EACCES") return final(`${message}: is the program installed?`);
  if (error instanceof ConnectError || code === "ECONNREFUSED" || code === "ENOTFOUND" || code === "EAI_AGAIN")
    return again(`the server cannot be reached: ${message}`);
  if (statusCode !== undefined && NOT_BEGUN.has(statusCode)) return again(`the server is busy (HTTP ${statusCode})`);
  if (repeatable) return again(message);
  return final(`${message}. It may have been carried out, or not: find out before it is done again`);
}

/** Too many requests; not available; a session that the server has forgotten. */
const NOT_BEGUN: ReadonlySet<number> = new Set([404, 429, 503]);

interface Facts {
  /** The server's own (a number), or the system's. */
  readonly code: number | string | undefined;
  readonly statusCode: number | undefined;
}

/** Errors wrap errors; the system's is the innermost. */
const CAUSE_DEPTH_MAX = 5;

function factsOf(error: unknown): Facts {
  let code: number | string | undefined;
  let statusCode: number | undefined;
  let current = error;
  for (let depth = 0; depth < CAUSE_DEPTH_MAX && current instanceof Error; depth += 1) {
    const fields = current as { readonly code?: unknown };
    if (MCPClientError.isInstance(current)) statusCode ??= current.statusCode;
    // A number is the server's in its own errors alone: those of the platform have old numbers of their own.
    const isCode = MCPClientError.isInstance(current) ? fields.code !== undefined : typeof fields.code === "string";
    if (isCode) code ??= fields.code as number | string;
    current = current.cause;
  }
  return { code, statusCode };
}
