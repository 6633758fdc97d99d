// How a run ended, printed: its result on standard output exactly as the handler returned it, a failure as an error.

import type { RunId } from "@perdure/protocol";
import type { Outcome } from "./api/ingress-client.ts";
import type { Cli, CommonOptions } from "./cli.ts";
import { errorDocument, errorText } from "./error-report.ts";
import { explain } from "./errors.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { paintFor } from "./style.ts";
import { formatBytes } from "./text.ts";

export function printOutcome(cli: Cli, options: CommonOptions, runId: RunId, outcome: Outcome): ExitCode {
  const out = cli.output(options);
  if (outcome.kind === "failure") {
    // Whatever the code of the failure says elsewhere: here it says that the run failed.
    const explained = {
      ...explain(outcome.error),
      exit: EXIT.failed,
      advice: `${cli.commandLine(options, "show", runId)} shows what it did`,
    };
    if (options.json === true) out.document({ runId, failure: errorDocument(explained) });
    else cli.io.stderr.write(errorText(explained, paintFor(cli.io.stderr, cli.io.env)));
    return EXIT.failed;
  }
  if (options.json === true) out.document({ runId, ...documentOf(outcome) });
  else if (outcome.kind === "json") out.text(cli.io.stdout.isTTY === true ? pretty(outcome.text) : outcome.text);
  else if (outcome.kind === "bytes") {
    if (cli.io.stdout.isTTY === true)
      out.note(
        `the result is ${formatBytes(outcome.bytes.byteLength)} that are not JSON: send them to a file with > file`,
      );
    else cli.io.stdout.write(outcome.bytes);
  }
  return EXIT.ok;
}

function documentOf(outcome: Exclude<Outcome, { kind: "failure" }>): object {
  switch (outcome.kind) {
    case "json":
      return { result: JSON.parse(outcome.text) as unknown };
    case "bytes":
      return { base64: Buffer.from(outcome.bytes).toString("base64") };
    case "void":
      return {};
  }
}

function pretty(text: string): string {
  return JSON.stringify(JSON.parse(text), null, 2);
}
