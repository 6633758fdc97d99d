// The terminal, looked at as a person does: by what stands on its screen.

import { PassThrough } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { PlainScreen } from "./screen.ts";
import { Terminal } from "./terminal.ts";

/** As much of a terminal as is needed: rows of text, and the sequences that move about in them. */
class Glass {
  readonly columns: number;
  #rows: string[] = [""];
  #row = 0;
  #column = 0;

  constructor(columns: number) {
    this.columns = columns;
  }

  get rows(): readonly string[] {
    return this.#rows.map((row) => row.trimEnd());
  }

  write(text: string): void {
    // oxlint-disable-next-line no-control-regex
    for (const [token, , count = "", letter] of text.matchAll(/(\x1b\[(\d*)([A-Za-z]))|[^]/g)) {
      if (letter !== undefined) this.#move(letter, count === "" ? 1 : Number(count), count);
      else if (token === "\n") this.#to(this.#row + 1, 0);
      else if (token === "\r") this.#column = 0;
      else this.#put(token);
    }
  }

  #move(letter: string, count: number, raw: string): void {
    if (letter === "A") this.#to(Math.max(0, this.#row - count), this.#column);
    else if (letter === "B") this.#to(this.#row + count, this.#column);
    else if (letter === "C") this.#column += count;
    else if (letter === "D") this.#column = Math.max(0, this.#column - count);
    else if (letter === "G") this.#column = count - 1;
    else if (letter === "J" && raw !== "2") {
      this.#rows.length = this.#row + 1;
      this.#rows[this.#row] = (this.#rows[this.#row] ?? "").slice(0, this.#column);
    } else if (letter === "K") this.#rows[this.#row] = (this.#rows[this.#row] ?? "").slice(0, this.#column);
  }

  #put(character: string): void {
    if (this.#column >= this.columns) this.#to(this.#row + 1, 0);
    const row = (this.#rows[this.#row] ?? "").padEnd(this.#column);
    this.#rows[this.#row] = row.slice(0, this.#column) + character + row.slice(this.#column + 1);
    this.#column += 1;
  }

  #to(row: number, column: number): void {
    while (this.#rows.length <= row) this.#rows.push("");
    this.#row = row;
    this.#column = column;
  }
}

const open: Terminal[] = [];
afterEach(() => {
  for (const terminal of open.splice(0)) terminal.close();
});

function terminalOf(columns = 40): { terminal: Terminal; glass: Glass; type(text: string): Promise<void> } {
  const glass = new Glass(columns);
  const input = new PassThrough();
  const output = Object.assign(new PassThrough(), { columns, isTTY: true });
  output.on("data", (chunk: Buffer) => glass.write(chunk.toString()));
  const terminal = new Terminal({ input, output }, (_, text) => text);
  open.push(terminal);
  terminal.ask(undefined);
  const type = async (text: string): Promise<void> => {
    input.write(text);
    for (let turns = 0; turns < 5; turns += 1) await turn();
  };
  return { terminal, glass, type };
}

describe("a terminal", () => {
  it("keeps what is being typed below what comes in", async () => {
    const { terminal, glass, type } = terminalOf();
    await type("fo");
    terminal.line("✓ accepted");
    terminal.flow("a", "text", "The tide ");
    await type("cus");
    terminal.flow("a", "text", "comes in.");
    await type("");
    expect(glass.rows).toEqual(["✓ accepted", "The tide comes in.", "› focus"]);
  });

  it("draws a long input again, also where it has several rows", async () => {
    const { terminal, glass, type } = terminalOf(20);
    await type("a message that is longer than a row of it");
    for (const word of ["one ", "two ", "three"]) terminal.flow("a", "text", word);
    terminal.line("a line");
    await type("!");
    expect(glass.rows).toEqual(["one two three", "a line", "› a message that is", "longer than a row of", " it!"]);
  });

  it("breaks what flows between words, and at its own line breaks", async () => {
    const { terminal, glass, type } = terminalOf(20);
    for (const piece of ["The keeper lights ", "the lamp at sun", "set.\n\nAnd out", " again"])
      terminal.flow("a", "text", piece);
    await type("");
    expect(glass.rows).toEqual(["The keeper lights", "the lamp at sunset.", "", "And out again", "›"]);
  });

  it("begins what comes from elsewhere on a line of its own", async () => {
    const { terminal, glass, type } = terminalOf();
    terminal.flow("a", "reasoning", "Hm.");
    terminal.flow("a", "text", "Yes");
    terminal.flow("b", "text", "No");
    terminal.flow("a", "text", ", yes");
    await type("");
    expect(glass.rows).toEqual(["Hm.", "Yes", "No", ", yes", "›"]);
  });

  it("gives the lines that are typed, and leaves them where they stand", async () => {
    const { terminal, glass, type } = terminalOf();
    const lines: string[] = [];
    terminal.onLine((line) => void lines.push(line));
    terminal.flow("a", "text", "The tide");
    await type("stop it\r");
    terminal.flow("a", "text", " comes in.");
    terminal.ask("approve?");
    await type("y");
    expect(lines).toEqual(["stop it"]);
    expect(glass.rows).toEqual(["The tide", "› stop it", " comes in.", "approve? › y"]);
  });

  it("Ctrl-C is told, and ends nothing by itself", async () => {
    const { terminal, type } = terminalOf();
    let told = 0;
    let ended = 0;
    terminal.onInterrupt(() => (told += 1));
    terminal.onEnd(() => (ended += 1));
    await type("\u0003");
    await type("\u0003");
    expect([told, ended]).toEqual([2, 0]);
    await type("\u0004");
    expect(ended).toBe(1);
  });

  it("puts a text where it is typed, to be changed", async () => {
    const { terminal, glass, type } = terminalOf();
    const lines: string[] = [];
    terminal.onLine((line) => void lines.push(line));
    terminal.fill('e {"to":"ada"}');
    await type('\u007f\u007f\u007f\u007f\u007fbob"}\r');
    expect(glass.rows[0]).toBe('› e {"to":"bob"}');
    expect(lines).toEqual(['e {"to":"bob"}']);
  });

  it("lets an editor have the text, and shows afterwards what came meanwhile", async () => {
    const { terminal, glass, type } = terminalOf();
    const edited = terminal.edit("sed -i s/ada/bob/", '{"to":"ada"}');
    terminal.line("meanwhile");
    expect(glass.rows.join("")).not.toContain("meanwhile");
    expect(await edited).toBe('{"to":"bob"}');
    await type("");
    expect(glass.rows).toEqual(["meanwhile", "›"]);
    expect(await terminal.edit("false", "x")).toBeUndefined();
  });
});

describe("without a terminal", () => {
  it("text flows, and lines begin on lines of their own", () => {
    let written = "";
    const screen = new PlainScreen({ write: (text) => (written += String(text)) });
    screen.flow("a", "reasoning", "Hm.");
    screen.flow("a", "text", "Yes, ");
    screen.flow("a", "text", "yes.");
    screen.line("✓ done");
    screen.flow("a", "text", "More.\n");
    screen.line("✓ done");
    expect(written).toBe("Hm.\nYes, yes.\n✓ done\nMore.\n✓ done\n");
  });
});
