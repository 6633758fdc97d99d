// Run ids and signal names in requests.

import { BadRequestError, parseRunId, type RunId } from "@perdure/protocol";

/** @throws BadRequestError */
export function runIdOf(text: string | undefined): RunId {
  const id = parseRunId(text ?? "");
  if (id === undefined)
    throw new BadRequestError(
      `"${text ?? ""}" is not a run id: those look like run_1 and 33 letters and digits, and come in the header x-perdure-run`,
    );
  return id;
}

/** @throws BadRequestError */
export function signalName(text: string | undefined): string {
  if (text === undefined || text === "") throw new BadRequestError("the signal's name is empty");
  return text;
}
