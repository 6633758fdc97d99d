// Results as HTTP answers: JSON text as application/json, bytes as application/octet-stream.
//
// A handler that returned nothing answers 204: there is no JSON text for `undefined`, an empty body under
// application/json would be broken JSON, and `null` is a value that a handler may return.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Result, RunId } from "@perdure/protocol";
import type { ErrorAnswers } from "./errors.ts";

export function sendResult(
  req: IncomingMessage,
  res: ServerResponse,
  result: Result,
  run: RunId,
  answers: ErrorAnswers,
): void {
  if (res.destroyed) return; // The asker is gone. Its run is not.
  if (result.kind === "value") {
    const { value } = result;
    if (typeof value === "string") {
      res.writeHead(200, {
        "content-type": "application/json",
        "x-perdure-run": run,
        "content-length": Buffer.byteLength(value),
      });
      res.end(value);
    } else {
      res.writeHead(200, {
        "content-type": "application/octet-stream",
        "x-perdure-run": run,
        "content-length": value.byteLength,
      });
      res.end(value);
    }
  } else if (result.kind === "void") {
    res.writeHead(204, { "x-perdure-run": run });
    res.end();
  } else answers.failure(req, res, result.failure, run);
}

export function sendJson(res: ServerResponse, status: number, body: unknown, run?: RunId): void {
  if (res.destroyed) return;
  const text = JSON.stringify(body);
  const headers: Record<string, string | number> = {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
  };
  if (run !== undefined) headers["x-perdure-run"] = run;
  res.writeHead(status, headers);
  res.end(text);
}
