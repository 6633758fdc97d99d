// @vitest-environment jsdom
import { cleanup, fireEvent, render } from "@testing-library/react";
import { afterEach, beforeAll, expect, test } from "vitest";
import { chooseLanguage } from "../i18n/languages.ts";
import { JsonTree } from "./json-tree.tsx";

beforeAll(() => chooseLanguage("en"));
afterEach(cleanup);

test("long lists open a hundred at a time", () => {
  const { container, getByText } = render(<JsonTree value={Array.from({ length: 250 }, (_, at) => at)} />);
  expect(container.querySelectorAll(".leaf")).toHaveLength(100);
  fireEvent.click(getByText("150 more"));
  expect(container.querySelectorAll(".leaf")).toHaveLength(200);
});

test("deep branches are closed, and tell how they begin", () => {
  const { container } = render(<JsonTree value={{ a: { b: { c: { d: "deep" } } } }} />);
  expect(container.querySelectorAll(".leaf")).toHaveLength(0);
  expect(container.textContent).toContain('{"c":{"d":"deep"}}');
});
