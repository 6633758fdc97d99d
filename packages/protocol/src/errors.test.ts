import { describe, expect, test } from "vitest";
import * as errors from "./errors.ts";

type ErrorClass = (new (
  message: string,
) => errors.PerdureError) & { readonly code: string; readonly retry: string; readonly status: number };

const classes = Object.entries(errors as Record<string, unknown>).filter(isClass);

function isClass(entry: [string, unknown]): entry is [string, ErrorClass] {
  return typeof entry[1] === "function" && entry[1].prototype instanceof errors.PerdureError;
}

describe("every error class", () => {
  test("has a code of its own", () => {
    const codes = classes.filter(([name]) => name !== "RemoteError").map(([, type]) => type.code);
    expect(new Set(codes).size).toBe(codes.length);
  });

  test.each(classes.filter(([name]) => name !== "RemoteError" && name !== "InvalidDurationError"))(
    "%s keeps its name, code and message, and is known across realms",
    (name, type) => {
      const error = new type("what happened");
      expect(error.name).toBe(name);
      expect(error.code).toBe(type.code);
      expect(error.message).toBe("what happened");
      expect(errors.isPerdureError(error)).toBe(true);
      expect(errors.failureFrom(error)).toMatchObject({
        message: "what happened",
        errorCode: type.code,
        code: error.status,
      });
    },
  );
});

describe("failures", () => {
  test("come back as what they were", () => {
    for (const error of [
      new errors.CancelledError(),
      new errors.KilledError(),
      new errors.StepFailedError("s"),
      new errors.TerminalError("t", { status: 422, metadata: { a: "b" } }),
    ]) {
      const back = errors.errorFromFailure(error.toFailure());
      expect(back.code).toBe(error.code);
      expect(back.status).toBe(error.status);
      expect(back.message).toBe(error.message);
      expect(back.metadata).toEqual(error.metadata);
      expect(back).toBeInstanceOf(errors.TerminalError);
    }
    expect(errors.errorFromFailure(new errors.CancelledError().toFailure())).toBeInstanceOf(errors.CancelledError);
  });

  test("are made of anything that is thrown", () => {
    expect(errors.failureFrom(new Error("x"))).toMatchObject({ code: 500, message: "x" });
    expect(errors.failureFrom("text")).toEqual({ code: 500, message: "text" });
    const circular: { self?: unknown } = {};
    circular.self = circular;
    expect(errors.failureFrom(circular).code).toBe(500);
    expect(errors.failureFrom(undefined).message).toContain("undefined");
  });
});
