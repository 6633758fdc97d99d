// Passages: a document cut at its headings into pieces that can be searched, read and cited
// ==========================================================================================
// C1. A passage's id is its place, `path:line`: the same file always gives the same ids, and an id is a citation.
// C2. Its text stands in the file from that line on, word for word.
// C3. Its text is bounded; a long section gives several passages under one heading. Fenced code is not a heading.

export interface Passage {
  readonly id: string;
  /** Relative to the corpus, with "/". */
  readonly path: string;
  /** First line of the text, from 1. */
  readonly line: number;
  /** `Title > Section > Subsection`. */
  readonly heading: string;
  readonly text: string;
}

/** About a screenful: small enough that ten fit a prompt, large enough to say something. */
const PASSAGE_CHARS_MAX = 1_400;
/** Less than this is a heading's leftovers: a badge, a rule, a "see below". */
const PASSAGE_LETTERS_MIN = 40;

interface Line {
  readonly text: string;
  readonly number: number;
}

interface Section {
  readonly heading: string;
  readonly lines: readonly Line[];
}

export function splitMarkdown(path: string, markdown: string): readonly Passage[] {
  return sectionsOf(path, markdown).flatMap((section) => cut(path, section));
}

/** Plain text has no headings: its paragraphs are grouped under the file's name. */
export function splitText(path: string, text: string): readonly Passage[] {
  return cut(path, { heading: fileTitle(path), lines: linesOf(text) });
}

function sectionsOf(path: string, markdown: string): readonly Section[] {
  const { title, lines } = frontMatter(path, linesOf(markdown));
  const trail: string[] = title === undefined ? [] : [title];
  const sections: { heading: string; lines: Line[] }[] = [{ heading: title ?? fileTitle(path), lines: [] }];
  let fence = "";
  for (const line of lines) {
    fence = fenceAfter(fence, line.text);
    const heading = fence === "" ? /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/.exec(line.text) : null;
    if (heading === null) {
      sections.at(-1)?.lines.push(line);
      continue;
    }
    const depth = (heading[1] ?? "#").length;
    trail.length = Math.min(trail.length, depth - 1);
    trail.push(plain(heading[2] ?? ""));
    const words = trail.filter((part, at) => part !== "" && part !== trail[at - 1]);
    sections.push({ heading: words.join(" > ") || fileTitle(path), lines: [] });
  }
  return sections;
}

/** Cuts a section at blank lines, and, where a paragraph alone is too long, at its lines. */
function cut(path: string, section: Section): readonly Passage[] {
  const passages: Passage[] = [];
  let held: Line[] = [];
  let chars = 0;
  const flush = () => {
    while (held[0]?.text.trim() === "") held.shift();
    const text = held
      .map((line) => line.text)
      .join("\n")
      .trimEnd();
    const line = held[0]?.number ?? 0;
    if (letters(text) >= PASSAGE_LETTERS_MIN) {
      passages.push({ id: `${path}:${line}`, path, line, heading: section.heading, text });
    }
    held = [];
    chars = 0;
  };
  for (const line of section.lines) {
    const text = line.text.slice(0, PASSAGE_CHARS_MAX); // A line longer than a passage is data, not prose.
    const isFull = chars + text.length > PASSAGE_CHARS_MAX;
    const isGoodPlace = text.trim() === "" && chars > PASSAGE_CHARS_MAX / 2;
    if (held.length > 0 && (isFull || isGoodPlace)) flush();
    held.push({ text, number: line.number });
    chars += text.length + 1;
  }
  flush();
  return passages;
}

function linesOf(text: string): readonly Line[] {
  return text.split(/\r?\n/).map((line, at) => ({ text: line, number: at + 1 }));
}

/** The block between `---` lines that some documents begin with: only its title is of use. */
function frontMatter(path: string, lines: readonly Line[]): { title: string | undefined; lines: readonly Line[] } {
  const end = lines[0]?.text === "---" ? lines.findIndex((line, at) => at > 0 && line.text === "---") : -1;
  if (end === -1) return { title: undefined, lines };
  const title = lines.slice(1, end).flatMap((line) => /^title:\s*["']?(.+?)["']?\s*$/.exec(line.text)?.[1] ?? [])[0];
  return { title: title ?? fileTitle(path), lines: lines.slice(end + 1) };
}

/** The mark that fenced code, open before this line, still waits for after it; "" outside of fenced code. */
function fenceAfter(fence: string, line: string): string {
  const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? "";
  if (fence === "") return mark;
  return mark.startsWith(fence) ? "" : fence;
}

/** `Reference/Hooks.md` is "Hooks". */
function fileTitle(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1).replace(/\.[^.]+$/, "");
  const folder = path.split("/").at(-2);
  return /^(?:readme|index)$/i.test(name) && folder !== undefined ? folder : name;
}

/** A heading without its links, images, emphasis and anchors. */
function plain(heading: string): string {
  return heading
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll(/!\[[^\]]*\]\([^)]*\)/g, "")
    .replaceAll(/\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])/g, "$1")
    .replaceAll(/[`*\\]|\{#[^}]*\}/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}

const letters = (text: string) => text.replaceAll(/[^\p{L}]/gu, "").length;
