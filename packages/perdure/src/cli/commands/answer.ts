// The answer of a run, as `call` and `result` print it.

import type { Outcome } from "../api/ingress-client.ts";
import type { Output } from "../output.ts";

/** JSON as it is in a pipe, indented for people; nothing where the handler returned nothing. @throws the run's failure */
export function printOutcome(output: Output, outcome: Outcome): void {
  switch (outcome.kind) {
    case "failure":
      throw outcome.error;
    case "void":
      if (output.json) output.document(null);
      return;
    case "bytes":
      if (output.json) output.document({ base64: Buffer.from(outcome.bytes).toString("base64") });
      else output.raw(Buffer.from(outcome.bytes).toString("latin1"));
      return;
    case "json": {
      const value = JSON.parse(outcome.text) as unknown;
      if (output.live && typeof value === "string") output.text(value);
      else if (output.live || output.json) output.document(value);
      else output.text(outcome.text);
    }
  }
}
