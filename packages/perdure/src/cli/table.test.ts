import { describe, expect, it } from "vitest";
import { formatTable } from "./table.ts";

const plain = (_: unknown, text: string): string => text;
const columns = [
  { title: "NAME", shrinksTo: 4 },
  { title: "N", align: "right" as const },
];

describe("formatTable", () => {
  it("aligns columns and leaves no spaces at the end of lines", () => {
    const table = formatTable(
      [...columns, { title: "" }],
      [
        ["ab", "1", ""],
        ["abcdef", "20", ""],
      ],
      { paint: plain },
    );
    expect(table).toBe("NAME     N\nab       1\nabcdef  20\n");
  });

  it("cuts nothing in a pipe, and the flexible columns on a terminal", () => {
    const rows = [["a long name", "1"]];
    expect(formatTable(columns, rows, { paint: plain })).toContain("a long name");
    expect(formatTable(columns, rows, { paint: plain, width: 9 })).toBe("NAME    N\na lon…  1\n");
    expect(formatTable(columns, rows, { paint: plain, width: 2 })).toContain("a l…");
  });

  it("keeps a row on its line", () => {
    expect(formatTable(columns, [["a\nb", "1"]], { paint: plain })).toContain("a\\nb");
  });
});
