import { expect, test } from "vitest";
import { csvOf } from "./csv.ts";

test("fields are quoted where they have to be", () => {
  const columns = ["a", "b,c"];
  const rows = [
    [1, null],
    ['say "x"', "two\nlines"],
    [{ base64: "AA==" }, true],
  ];
  expect(csvOf({ columns, rows })).toBe(
    'a,"b,c"\r\n1,\r\n"say ""x""","two\nlines"\r\n"{""base64"":""AA==""}",true\r\n',
  );
});

test("a text that a spreadsheet would take for a formula stays a text", () => {
  const rows = [["=1+1"], ["@cmd"], ["-1"], ["+x"], [-1], ["- point"]];
  expect(
    csvOf({ columns: ["x"], rows })
      .split("\r\n")
      .slice(1, -1),
  ).toEqual(["'=1+1", "'@cmd", "-1", "'+x", "-1", "'- point"]);
});
