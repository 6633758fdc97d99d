// @vitest-environment jsdom
import { cleanup, render } from "@testing-library/react";
import { afterEach, describe, expect, test } from "vitest";
import { Markdown } from "./markdown.tsx";

afterEach(cleanup);

function markup(text: string): HTMLElement {
  return render(<Markdown text={text} />).container;
}

const HOSTILE = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "<iframe src='https://evil.example'></iframe>",
  "[a](javascript:alert(1))",
  "[b](data:text/html,<script>alert(1)</script>)",
  "![c](https://evil.example/pixel.png)",
  "[d](vbscript:x) [e](//evil.example) [f](/runs)",
  "<a href='https://evil.example' onclick='x()'>g</a>",
].join("\n\n");

describe("documents of agents", () => {
  test("D1: no element but those of Markdown comes of them", () => {
    const page = markup(HOSTILE);
    expect(page.querySelectorAll("script, img, iframe, object, embed, style, form, input")).toHaveLength(0);
    expect(page.textContent).toContain("<script>alert(1)</script>");
    const attributes = [...page.querySelectorAll("*")].flatMap((element) =>
      [...element.attributes].map(({ name }) => name),
    );
    expect(attributes.filter((name) => name.startsWith("on"))).toEqual([]);
  });

  test("D2: links lead to the web, in a new tab that knows nothing of this one; images are links", () => {
    const page = markup(`${HOSTILE}\n\n[h](https://example.org/a)`);
    const links = [...page.querySelectorAll("a")].map((link) => [link.getAttribute("href"), link.rel]);
    expect(links).toEqual([
      ["https://evil.example/pixel.png", "noopener noreferrer nofollow"],
      ["https://example.org/a", "noopener noreferrer nofollow"],
    ]);
  });

  test("tables and lists are what they are", () => {
    const page = markup("| a | b |\n| - | - |\n| 1 | 2 |\n\n1. one\n2. two");
    expect(page.querySelectorAll("td")).toHaveLength(2);
    expect(page.querySelectorAll("ol li")).toHaveLength(2);
  });
});
