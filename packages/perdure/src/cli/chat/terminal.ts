// A terminal: what the agent says above, what is typed below, at the same time
// ============================================================================
//   … lines that are finished
//   the line that is being said       `#tail`, redrawn with each piece of it
//   › what is being typed             readline's
//
// Whatever is shown is written above what is being typed, which is then drawn again as it was.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clearScreenDown, createInterface, cursorTo, moveCursor, type Interface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { Paint } from "../style.ts";
import { widthOf } from "../text.ts";
import type { FlowStyle, Screen } from "./screen.ts";

export interface TerminalStreams {
  readonly input: Readable & { readonly setRawMode?: (raw: boolean) => unknown };
  readonly output: Writable & { readonly columns?: number };
}

const COLUMNS_DEFAULT = 80;
const PROMPT = "› ";

export class Terminal implements Screen {
  readonly #streams: TerminalStreams;
  readonly #paint: Paint;
  readonly #reader: Interface;
  #prompt = PROMPT;
  /** The line that is being said; whose it is, and how it is painted. */
  #tail: { readonly flow: string; readonly style: FlowStyle; text: string } | undefined;
  #isTailShown = false;
  #isInputShown = false;
  /** Written while something else has the terminal. */
  #held: (() => void)[] | undefined;

  constructor(streams: TerminalStreams, paint: Paint) {
    this.#streams = streams;
    this.#paint = paint;
    this.#reader = createInterface({ ...streams, terminal: true, prompt: PROMPT });
    this.#reader.on("line", () => {
      this.#isInputShown = false; // It has become a part of what stands above.
      this.#tail = undefined;
      this.#isTailShown = false;
    });
  }

  onLine(listener: (line: string) => void): void {
    this.#reader.on("line", listener);
  }

  onInterrupt(listener: () => void): void {
    this.#reader.on("SIGINT", listener);
  }

  /** The input ended: Ctrl-D, or `close`. */
  onEnd(listener: () => void): void {
    this.#reader.on("close", listener);
  }

  /** What is asked for; undefined: a message. */
  ask(question: string | undefined): void {
    this.#prompt = question === undefined ? PROMPT : `${question} ${PROMPT}`;
    this.#show(() => undefined);
  }

  flow(source: string, style: FlowStyle, text: string): void {
    if (text === "") return;
    this.#show(() => {
      const flow = `${source}/${style}`;
      if (this.#tail !== undefined && this.#tail.flow !== flow) this.#commit();
      this.#tail ??= { flow, style, text: "" };
      this.#tail.text += text;
      this.#commitFullRows(this.#tail);
    });
  }

  line(text: string): void {
    this.#show(() => {
      this.#commit();
      this.#write(`${text}\n`);
    });
  }

  /** Puts a text where it is typed, to be changed. */
  fill(text: string): void {
    this.#reader.write(text);
  }

  /** Lets an editor have the terminal. Undefined: it failed. */
  async edit(command: string, text: string): Promise<string | undefined> {
    const folder = mkdtempSync(join(tmpdir(), "perdure-edit-"));
    const file = join(folder, "input.json");
    writeFileSync(file, text);
    this.#held = [];
    this.#erase();
    this.#reader.pause();
    this.#streams.input.setRawMode?.(false);
    try {
      // An editor may be a command with options: the shell takes it apart, and gets the file as an argument.
      const editor = spawn("sh", ["-c", `${command} "$1"`, "sh", file], { stdio: "inherit" });
      const code = await new Promise((resolve) => editor.on("error", () => resolve(-1)).on("close", resolve));
      return code === 0 ? readFileSync(file, "utf8") : undefined;
    } finally {
      rmSync(folder, { recursive: true, force: true });
      this.#streams.input.setRawMode?.(true);
      this.#reader.resume();
      const held = this.#held;
      this.#held = undefined;
      for (const write of held) write();
      this.#show(() => undefined);
    }
  }

  close(): void {
    this.#erase();
    this.#commit();
    this.#isInputShown = false;
    this.#reader.close();
  }

  #show(write: () => void): void {
    if (this.#held !== undefined) {
      this.#held.push(() => this.#show(write));
      return;
    }
    this.#erase();
    write();
    if (this.#tail !== undefined) {
      this.#write(`${this.#painted(this.#tail)}\n`);
      this.#isTailShown = true;
    }
    this.#reader.setPrompt(this.#prompt);
    this.#reader.prompt(true);
    this.#isInputShown = true;
  }

  /** Takes away what is drawn again: the line that is being said, and what is being typed. */
  #erase(): void {
    const { output } = this.#streams;
    const rows = (this.#isInputShown ? this.#reader.getCursorPos().rows : 0) + (this.#isTailShown ? 1 : 0);
    if (rows > 0) moveCursor(output, 0, -rows);
    cursorTo(output, 0);
    clearScreenDown(output);
    this.#isTailShown = false;
    this.#isInputShown = false;
    // Where readline believes the cursor to be, it would move up from.
    Reflect.set(this.#reader, "prevRows", 0);
  }

  /** The line that is being said is finished. */
  #commit(): void {
    if (this.#tail === undefined) return;
    this.#write(`${this.#painted(this.#tail)}\n`);
    this.#tail = undefined;
  }

  /** Rows that are full will not change any more. */
  #commitFullRows(tail: { style: FlowStyle; text: string }): void {
    const width = this.#streams.output.columns ?? COLUMNS_DEFAULT;
    for (;;) {
      const end = tail.text.indexOf("\n");
      const line = end < 0 ? tail.text : tail.text.slice(0, end);
      const row = rowOf(line, width - 1);
      if (row.length === line.length && end < 0) return;
      const isWhole = row.length === line.length;
      this.#write(`${this.#painted({ style: tail.style, text: row })}\n`);
      tail.text = isWhole ? tail.text.slice(end + 1) : tail.text.slice(row.length).replace(/^ /, "");
    }
  }

  #painted({ style, text }: { readonly style: FlowStyle; readonly text: string }): string {
    return style === "reasoning" ? this.#paint("dim", text) : text;
  }

  #write(text: string): void {
    this.#streams.output.write(text);
  }
}

/** As much of a line as fits, cut between words where there are some. */
function rowOf(line: string, width: number): string {
  if (widthOf(line) <= width) return line;
  let row = "";
  for (const character of line) {
    if (widthOf(row + character) > width) break;
    row += character;
  }
  const space = row.lastIndexOf(" ");
  return space > width / 2 ? row.slice(0, space) : row;
}
