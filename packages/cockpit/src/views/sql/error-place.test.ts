import { expect, test } from "vitest";
import { ApiFailure } from "../../api/client.ts";
import { placeOfError } from "./error-place.ts";

const failure = (position?: string): ApiFailure =>
  new ApiFailure({
    code: "P0034",
    message: "no such column: stats",
    status: 400,
    ...(position === undefined ? {} : { metadata: { position } }),
  });

test("a place is a line and a column, and the word that stands there", () => {
  const statement = "SELECT id,\n  stats FROM runs";
  expect(placeOfError(failure("13"), statement, statement)).toEqual({ offset: 13, length: 5, line: 2, column: 3 });
});

test("where it is not known, or the statement is another by now, there is none", () => {
  expect(placeOfError(failure(), "SELECT", "SELECT")).toBeNull();
  expect(placeOfError(failure("99"), "SELECT", "SELECT")).toBeNull();
  expect(placeOfError(failure("3"), "SELECT", "SELECT 1")).toBeNull();
  expect(placeOfError(new Error("down"), "SELECT", "SELECT")).toBeNull();
});
