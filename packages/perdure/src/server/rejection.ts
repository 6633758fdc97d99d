// A rejection from outside, as the failure that waiting code catches.

import {
  BadRequestError,
  failureResult,
  type Failure,
  type JsonValue,
  type RejectRequest,
  type Result,
} from "@perdure/protocol";

/** @throws BadRequestError where `reason` is not a RejectRequest. */
export function rejection(reason: RejectRequest | JsonValue | undefined): Result {
  if (reason === undefined || reason === null) return failureResult({ code: 500, message: "rejected" });
  if (typeof reason === "string") return failureResult({ code: 500, message: reason });
  const { message = "rejected", code = 500, metadata } = reason as RejectRequest;
  if (typeof reason !== "object" || typeof message !== "string")
    throw new BadRequestError('a rejection is {"message": "why"}, with a code from 400 to 599 if need be');
  if (!Number.isInteger(code) || code < 400 || code > 599)
    throw new BadRequestError("the code of a rejection is a HTTP status from 400 to 599");
  const failure: Failure = { code, message };
  return failureResult(metadata === undefined ? failure : { ...failure, metadata: textsOf(metadata) });
}

function textsOf(metadata: unknown): Record<string, string> {
  const isTexts =
    typeof metadata === "object" &&
    metadata !== null &&
    Object.values(metadata).every((value) => typeof value === "string");
  if (!isTexts) throw new BadRequestError("the metadata of a rejection is an object of texts");
  return metadata as Record<string, string>;
}
