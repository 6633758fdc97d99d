import { describe, expect, test } from "vitest";

import { emptyNotes, NO_USAGE, sumUsage, unread, withFindings } from "../src/notes.ts";
import { emptyReport, numberedFindings, renderReport, sourcesOf } from "../src/report.ts";
import type { Notes } from "../src/types.ts";

const passage = (id: string) => ({
  id,
  path: id.split(":")[0] ?? "",
  line: Number(id.split(":")[1]),
  heading: "H",
  text: "",
});
const thought = <T>(answer: T) => ({ answer, model: "m", tokens: 5 });
const usage = { calls: 2, tokens: 10, models: ["m"] };

describe("notes", () => {
  test("the passages that several searches rank best together are read first, and none twice", () => {
    const hit = (id: string) => ({ id, heading: "", score: 1 });
    const searches = [["a:1", "b:1", "c:1"].map(hit), ["c:1", "b:1"].map(hit)];
    expect(unread(emptyNotes("t"), searches)).toEqual(["c:1", "a:1", "b:1"]);
    const notes = { ...emptyNotes("t"), read: [passage("c:1")] };
    expect(unread(notes, searches)).toEqual(["a:1", "b:1"]);
  });

  test("claims that cite nothing that was read are dropped, as are repeated ones", () => {
    const findings = [
      { claim: "good", passages: [2, 2, 9] },
      { claim: "invented", passages: [7] },
      { claim: "good", passages: [1] },
    ];
    const before = withFindings(emptyNotes("t"), [passage("z:1")], thought({ findings: [], openQueries: [] }));
    const once = withFindings(before, [passage("a:1"), passage("b:1")], thought({ findings, openQueries: [] }));
    const twice = withFindings(
      once,
      [passage("c:1")],
      thought({ findings: [{ claim: "good", passages: [1] }], openQueries: [] }),
    );
    expect(twice.findings.map(({ claim }) => claim)).toEqual(["good"]);
    expect(twice.findings[0]?.passages).toEqual(["b:1"]);
    expect(twice.read.map(({ id }) => id)).toEqual(["z:1", "a:1", "b:1", "c:1"]);
    expect(twice.usage).toEqual({ calls: 3, tokens: 15, models: ["m"] });
  });

  test("usage that is unknown stays unknown", () => {
    expect(sumUsage([usage, { calls: 1, models: ["n"] }])).toEqual({ calls: 3, models: ["m", "n"] });
    expect(sumUsage([usage, NO_USAGE])).toEqual(usage);
  });
});

describe("report", () => {
  const notes: readonly Notes[] = [
    {
      ...emptyNotes("One"),
      read: [passage("a.md:1"), passage("unused.md:1"), passage("b.md:2")],
      findings: [{ claim: "first", passages: ["b.md:2"] }],
    },
    {
      ...emptyNotes("Two"),
      read: [passage("a.md:1")],
      findings: [{ claim: "second", passages: ["a.md:1", "b.md:2"] }],
    },
  ];
  const sources = sourcesOf(notes);

  test("R1: sources are numbered as the findings use them", () => {
    expect(sources.map(({ id }) => id)).toEqual(["b.md:2", "a.md:1"]);
    expect(numberedFindings(notes, sources)).toEqual([
      { topic: "One", claim: "first", sources: [1] },
      { topic: "Two", claim: "second", sources: [2, 1] },
    ]);
  });

  test("R2: citations of what is no source are removed", () => {
    const text = "Good [1]. Bad [3], [0] and [99]. Mixed [1, 7; 2]. A [1](link.md) stays.";
    const answer = { title: "T", summary: text, sections: [{ heading: "S", text: "Fine [2]." }] };
    const markdown = renderReport(answer, "Q?", sources, usage);
    expect(markdown).toContain("Good [1]. Bad, and. Mixed [1][2]. A [1](link.md) stays.");
    expect(markdown).toContain("## S\n\nFine [2].");
  });

  test("R3: it lists its sources with file, line and heading, and says which model wrote it", () => {
    const markdown = renderReport({ title: "T", summary: "S [1].", sections: [] }, "Q?", sources, usage);
    expect(markdown).toBe(
      "# T\n\n> Q?\n\nS [1].\n\n## Sources\n\n1. `b.md:2` H\n2. `a.md:1` H\n\n---\n\n*Written by m (2 calls, 10 tokens).*\n",
    );
  });

  test("where nothing was found it says so", () => {
    const markdown = renderReport(emptyReport("Q?"), "Q?", [], usage);
    expect(markdown).toContain("# Q?\n\nThe documents say nothing about this.\n\n---");
  });
});
