import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { projectDocuments, readDocuments, wholeFolder } from "../src/corpus/files.ts";
import { htmlToText } from "../src/corpus/html.ts";
import { buildLibrary, CorpusError, openLibrary } from "../src/corpus/library.ts";
import { splitMarkdown, splitText } from "../src/corpus/passages.ts";
import { searchTerm, stem, termsOf } from "../src/corpus/words.ts";
import { folderWith, LIGHTHOUSE } from "./folders.ts";

const SENTENCE = "This sentence is long enough to be worth a passage of its own.";

describe("passages", () => {
  test("C1: an id is the path and the line where the text begins", () => {
    const passages = splitMarkdown("a/b.md", `# Title\n\n${SENTENCE}\n\n## Part\n\n${SENTENCE}\n`);
    expect(passages.map(({ id, heading }) => [id, heading])).toEqual([
      ["a/b.md:3", "Title"],
      ["a/b.md:7", "Title > Part"],
    ]);
  });

  test("C2: the text stands in the file from that line on", () => {
    for (const [path, text] of Object.entries(LIGHTHOUSE)) {
      for (const passage of splitMarkdown(path, text)) {
        const rest = text
          .split("\n")
          .slice(passage.line - 1)
          .join("\n");
        expect(rest.startsWith(passage.text)).toBe(true);
      }
    }
  });

  test("C3: a long section gives several bounded passages under one heading, and nothing is lost", () => {
    const paragraphs = Array.from({ length: 40 }, (_, at) => `Paragraph ${at}. ${SENTENCE} ${SENTENCE}`);
    const passages = splitMarkdown("long.md", `# Long\n\n${paragraphs.join("\n\n")}\n`);
    expect(passages.length).toBeGreaterThan(3);
    expect(passages.every(({ text, heading }) => text.length <= 1_500 && heading === "Long")).toBe(true);
    const whole = passages.map(({ text }) => text).join("\n\n");
    for (const paragraph of paragraphs) expect(whole).toContain(paragraph);
  });

  test("C3: a hash in fenced code is no heading", () => {
    const passages = splitMarkdown("code.md", `# Title\n\n${SENTENCE}\n\n\`\`\`sh\n# a comment\n\`\`\`\n`);
    expect(passages.map(({ heading }) => heading)).toEqual(["Title"]);
  });

  test("a line longer than a passage is cut", () => {
    expect(splitText("data.txt", "word ".repeat(10_000))[0]?.text.length).toBeLessThanOrEqual(1_400);
  });

  test("headings lose their links, pictures and emphasis, and front matter gives a title", () => {
    const text = `---\ntitle: "The Title"\n---\n\n# The Title\n\n## [A \`b\`](c.md) ![d](e.png) *f*\n\n${SENTENCE}\n`;
    expect(splitMarkdown("x.mdx", text).map(({ heading, line }) => [heading, line])).toEqual([
      ["The Title > A b f", 9],
    ]);
  });

  test("a file without headings goes by its name, a README by its folder's", () => {
    expect(splitMarkdown("notes/one.md", SENTENCE)[0]?.heading).toBe("one");
    expect(splitMarkdown("fastify/README.md", SENTENCE)[0]?.heading).toBe("fastify");
  });
});

describe("html", () => {
  test("becomes text line for line, with its headings", () => {
    const html = `<html><head>\n<title>t</title></head>\n<script>\nlet a = 1;\n</script>\n<h2 id="x">A\n&amp; B</h2>\n<p>One <b>two</b>&#33;</p>`;
    expect(htmlToText(html).split("\n")).toEqual(["", "", "", "", "", "## A & B", "", "One two!"]);
  });
});

describe("words", () => {
  test("forms of a word meet in one term", () => {
    expect(new Set(["retry", "retries", "retrying", "retried", "Retry's"].map(stem)).size).toBe(1);
    expect(new Set(["crash", "crashes", "crashed", "crashing"].map(stem)).size).toBe(1);
    expect(new Set(["approve", "approves", "approved", "approving"].map(stem)).size).toBe(1);
  });

  test("words that say nothing are no terms", () => {
    expect(searchTerm("The")).toBeNull();
    expect(termsOf("What is the journal of a run?")).toEqual(["journal", "run"]);
  });
});

describe("files", () => {
  test("a whole folder: known kinds, in order, without hidden folders, packages and links", async () => {
    const file = {
      "b.md": "b",
      "a.txt": "a",
      "c/d.html": "d",
      ".git/e.md": "e",
      "node_modules/f/g.md": "g",
      "h.ts": "h",
    };
    const folder = folderWith(file);
    symlinkSync(join(folder, "c"), join(folder, "z"));
    const { documents } = await readDocuments(wholeFolder(folder));
    expect(documents.map(({ path }) => path)).toEqual(["a.txt", "b.md", "c/d.html"]);
  });

  test("a project: what stands at its top and in docs/, and its packages' documents without histories", async () => {
    const folder = folderWith({
      "README.md": "r",
      "docs/a/b.md": "b",
      "src/c.md": "c",
      "node_modules/x/README.md": "x",
      "node_modules/x/CHANGELOG.md": "x",
      "node_modules/@y/z/docs/one.mdx": "z",
      "node_modules/x/test/t.md": "t",
    });
    const { documents } = await readDocuments(projectDocuments(folder));
    expect(documents.map(({ path }) => path)).toEqual([
      "README.md",
      "docs/a/b.md",
      "node_modules/@y/z/docs/one.mdx",
      "node_modules/x/README.md",
    ]);
  });

  test("a file that is too large is left out, and it is said", async () => {
    const folder = folderWith({ "big.md": "x".repeat(1_000_001), "small.md": "y" });
    const { documents, leftOut } = await readDocuments(wholeFolder(folder));
    expect(documents.map(({ path }) => path)).toEqual(["small.md"]);
    expect(leftOut).toEqual([{ path: "big.md", reason: "larger than 1 MB" }]);
  });
});

describe("library", () => {
  test("L1: finds passages by the forms of their words, always in the same order", async () => {
    const folder = folderWith(LIGHTHOUSE);
    const [one, two] = [await buildLibrary(wholeFolder(folder)), await buildLibrary(wholeFolder(folder))];
    const hits = one.search("failing lamps", 5);
    expect(hits[0]).toMatchObject({ id: "lamp.md:10", heading: "The lamp > When the lamp fails" });
    expect(two.search("failing lamps", 5)).toEqual(hits);
    expect(one.read(hits.map(({ id }) => id)).map(({ id }) => id)).toEqual(hits.map(({ id }) => id));
    expect(one.read(["lamp.md:999"])).toEqual([]);
  });

  test("a slip of the finger finds what was meant", async () => {
    const library = await buildLibrary(wholeFolder(folderWith(LIGHTHOUSE)));
    expect(library.search("visitprs", 1)[0]?.id).toBe("visitors.txt:1");
    expect(library.search("xylophone", 3)).toEqual([]);
  });

  test("no document crowds out the others", async () => {
    const many = Array.from({ length: 20 }, (_, at) => `## Lamp ${at}\n\nThe lamp ${SENTENCE}\n`).join("\n");
    const library = await buildLibrary(wholeFolder(folderWith({ ...LIGHTHOUSE, "many.md": `# Lamps\n\n${many}` })));
    const hits = library.search("lamp", 6);
    expect(hits.filter(({ id }) => id.startsWith("many.md"))).toHaveLength(3);
    expect(hits.length).toBeGreaterThan(3);
  });

  test("is opened once, and again where that failed", async () => {
    const folder = folderWith();
    await expect(openLibrary(folder, folder)).rejects.toThrow(CorpusError);
    const full = folderWith(LIGHTHOUSE);
    expect(await openLibrary(full, full)).toBe(await openLibrary(full, full));
    await expect(openLibrary(folder, folder)).rejects.toThrow("nothing to search");
  });

  test("says what is wrong with a folder that cannot be searched", async () => {
    const folder = folderWith({ "a.md": "# Only a title\n" });
    await expect(buildLibrary(wholeFolder(folder))).rejects.toThrow(/nothing to search in .*RESEARCH_CORPUS/);
    await expect(buildLibrary(wholeFolder(join(folder, "no")))).rejects.toThrow("does not exist");
    await expect(buildLibrary(wholeFolder(join(folder, "a.md")))).rejects.toThrow("is not a folder");
  });

  test("this project's own documents: every passage stands where its id says", async () => {
    const project = join(import.meta.dirname, "..", "..", "..");
    const library = await openLibrary(undefined, project);
    expect(library.documents).toBeGreaterThan(100);
    const hits = library.search("validate requests with a schema", 10);
    expect(hits).toHaveLength(10);
    for (const { path, line, text } of library.read(hits.map(({ id }) => id))) {
      const lines = readFileSync(join(project, path), "utf8")
        .split("\n")
        .slice(line - 1);
      expect(lines.join("\n").startsWith(text)).toBe(true);
    }
  });
});
