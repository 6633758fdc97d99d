import { expect, test } from "vitest";
import * as everywhere from "./index.ts";
import * as isolate from "./isolate.ts";

test("a module that runs inside an isolate finds every name that it imports", () => {
  expect(Object.keys(isolate).toSorted()).toEqual(Object.keys(everywhere).toSorted());
});
