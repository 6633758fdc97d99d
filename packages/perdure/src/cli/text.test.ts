import { describe, expect, it } from "vitest";
import { cut, formatBytes, padEnd, plural, printable, shellQuote, widthOf } from "./text.ts";

describe("texts on a terminal", () => {
  it("count wide characters twice, and colours not at all", () => {
    expect(widthOf("abc")).toBe(3);
    expect(widthOf("日本")).toBe(4);
    expect(widthOf("👩‍👩‍👧")).toBe(2);
    expect(widthOf("\u001b[31mred\u001b[39m")).toBe(3);
  });

  it("are cut to a width", () => {
    expect(cut("abcdef", 6)).toBe("abcdef");
    expect(cut("abcdef", 5)).toBe("abcd…");
    expect(cut("日本語", 5)).toBe("日本…");
    expect(cut("日本語", 4)).toBe("日…");
    expect(padEnd("日", 4)).toBe("日  ");
  });

  it("cannot move the reader's cursor", () => {
    expect(printable("a\nb\t\u001b[2J\u202e")).toBe("a\\nb\\t\\u001b[2J\\u202e");
  });

  it("are quoted for a shell where that is needed", () => {
    expect(shellQuote("run_1abc/x")).toBe("run_1abc/x");
    expect(shellQuote("it's {}")).toBe("'it'\\''s {}'");
  });

  it("tell numbers", () => {
    expect(plural(1, "run")).toBe("1 run");
    expect(plural(1_200, "entry", "entries")).toBe("1,200 entries");
    expect(formatBytes(512)).toBe("512 B");
    expect(formatBytes(1_536)).toBe("1.5 KiB");
    expect(formatBytes(50 * 1024 * 1024)).toBe("50 MiB");
  });
});
