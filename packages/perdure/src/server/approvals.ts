// Approvals from outside: shown and answered by whoever holds the id, which nobody can guess
// ==========================================================================================
//   GET  /perdure/approvals/{id}     as JSON, or as a page with a form for `Accept: text/html`
//   POST /perdure/approvals/{id}     {decision, by, comment?, input?}, or the form
//
// The handlers are internal, and are called here on behalf of who asks: `by` is what they say, and the server vouches for it
// only as far as its own credentials go.

import type { IncomingMessage, ServerResponse } from "node:http";
import { APPROVALS, isApprovalId, type ApprovalAnswer, type ApprovalView } from "@perdure/agents";
import { ApprovalNotFoundError, BadRequestError, isPerdureError } from "@perdure/protocol";
import { sendJson } from "./answers.ts";
import { approvalPage, PAGE_HEADERS, problemPage, type PageState } from "./approval-page.ts";
import { decodeBody, parseJson, readBodyAsync } from "./body.ts";
import type { ServedRuntime, ValidateInput } from "./context.ts";
import { callHandler } from "./handler-call.ts";

const FORM = "application/x-www-form-urlencoded";

export class ApprovalRoutes {
  readonly #runtime: ServedRuntime;
  readonly #validate: ValidateInput | undefined;

  constructor(runtime: ServedRuntime, validate: ValidateInput | undefined) {
    this.#runtime = runtime;
    this.#validate = validate;
  }

  async show(req: IncomingMessage, res: ServerResponse, id: string): Promise<void> {
    if (!wantsPage(req)) sendJson(res, 200, await this.#call<ApprovalView>(id, "show"));
    else await this.#page(res, id);
  }

  async answer(req: IncomingMessage, res: ServerResponse, id: string): Promise<void> {
    const type = req.headers["content-type"] ?? "";
    const bytes = await readBodyAsync(req);
    if (!type.startsWith(FORM) || /^\s*[{["]/.test(bytes.toString("utf8", 0, 64))) {
      const { value } = decodeBody(type, bytes);
      sendJson(res, 200, await this.#call(id, "answer", value));
      return;
    }
    try {
      await this.#call(id, "answer", readForm(bytes.toString("utf8")));
    } catch (error) {
      if (!isPerdureError(error) || error.status >= 500) throw error;
      await this.#page(res, id, { problem: error.message }, error.status);
      return;
    }
    res.writeHead(303, { location: encodeURIComponent(id), "cache-control": "no-store" }); // So that a reload sends nothing.
    res.end();
  }

  async #page(res: ServerResponse, id: string, state: PageState = {}, status = 200): Promise<void> {
    try {
      sendPage(res, status, approvalPage(await this.#call<ApprovalView>(id, "show"), state));
    } catch (error) {
      if (!isPerdureError(error) || error.status >= 500) throw error;
      sendPage(res, error.status, problemPage("There is nothing to answer here", error.message));
    }
  }

  #call<T>(id: string, handler: "show" | "answer", input?: unknown): Promise<T> {
    return callApproval<T>(this.#runtime, this.#validate, id, handler, input);
  }
}

/** @throws what the handler says: ApprovalNotFoundError, ApprovalClosedError, NotAnApproverError, ValidationError. */
export async function callApproval<T>(
  runtime: ServedRuntime,
  validate: ValidateInput | undefined,
  id: string,
  handler: "show" | "answer",
  input?: unknown,
): Promise<T> {
  // An id that cannot be one costs no run.
  if (!isApprovalId(id) || runtime.catalog.service(APPROVALS) === undefined)
    throw new ApprovalNotFoundError(`there is no approval "${id}"`);
  const target = { service: APPROVALS, key: id, handler };
  const invalid = handler === "show" ? null : await validate?.(target, input);
  if (invalid !== null && invalid !== undefined) throw invalid;
  return callHandler<T>(runtime, target, input);
}

/** A person with a browser asks, and no program. */
export function wantsPage({ headers: { accept = "" } }: IncomingMessage): boolean {
  const html = accept.indexOf("text/html");
  const json = accept.indexOf("application/json");
  return html >= 0 && (json < 0 || html < json);
}

/** @throws BadRequestError */
function readForm(text: string): ApprovalAnswer {
  const form = new URLSearchParams(text);
  const decision = form.get("decision");
  if (decision !== "approved" && decision !== "rejected")
    throw new BadRequestError("the form says neither approved nor rejected");
  const comment = form.get("comment")?.trim() ?? "";
  const input = form.get("input")?.trim() ?? "";
  return {
    decision,
    by: form.get("by")?.trim() ?? "",
    ...(comment === "" ? {} : { comment }),
    ...(input === "" || decision === "rejected" ? {} : { input: parseInput(input) }),
  };
}

function parseInput(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw new BadRequestError(`what to do instead is not JSON: ${(error as Error).message}`, { cause: error });
  }
}

function sendPage(res: ServerResponse, status: number, text: string): void {
  if (res.destroyed) return;
  res.writeHead(status, { ...PAGE_HEADERS, "content-length": Buffer.byteLength(text) });
  res.end(text);
}
