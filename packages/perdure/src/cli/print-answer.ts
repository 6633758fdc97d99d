// What became of a run that something was done to.

import type { ActionAnswer } from "@perdure/protocol";
import type { Cli, CommonOptions } from "./cli.ts";
import { paintStatus } from "./style.ts";

export function printAnswer(cli: Cli, options: CommonOptions, answer: ActionAnswer): void {
  const out = cli.output(options);
  if (out.json) out.document(answer);
  else out.text(answer.status === null ? answer.runId : `${answer.runId}  ${paintStatus(out.paint, answer.status)}`);
}
