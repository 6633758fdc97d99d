// The answer of a run, as `call` and `result` print it.

import type { HttpAnswer } from "../api/http.ts";
import type { Output } from "../output.ts";

/** JSON as it is in a pipe, indented for people; nothing where the handler returned nothing. */
export function printAnswer(output: Output, answer: HttpAnswer): void {
  const type = String(answer.headers["content-type"] ?? "");
  if (answer.status === 204 || answer.text === "") {
    if (output.json) output.document(null);
    return;
  }
  if (!type.includes("json")) {
    output.raw(answer.text);
    return;
  }
  const value = JSON.parse(answer.text) as unknown;
  if (output.live && typeof value === "string") output.text(value);
  else if (output.live || output.json) output.document(value);
  else output.text(answer.text);
}
