// What a command prints. Results go to standard output: text for people, or JSON under --json, never both. Notes and
// progress go to standard error, and only to a terminal.

import type { Io } from "./io.ts";
import { paintFor, type Paint } from "./style.ts";
import { formatTable, type Column, type Row } from "./table.ts";

export class Output {
  readonly json: boolean;
  readonly paint: Paint;
  readonly #io: Io;

  constructor(io: Io, json: boolean) {
    this.#io = io;
    this.json = json;
    this.paint = json ? (_, text) => text : paintFor(io.stdout, io.env);
  }

  /** Standard output is a terminal that a person looks at. */
  get live(): boolean {
    return !this.json && this.#io.stdout.isTTY === true;
  }

  /** Columns of the terminal; undefined in a pipe. */
  get width(): number | undefined {
    return this.live ? (this.#io.stdout.columns ?? 80) : undefined;
  }

  get now(): number {
    return this.#io.now();
  }

  text(text: string): void {
    this.#io.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
  }

  raw(text: string): void {
    this.#io.stdout.write(text);
  }

  /** The one document of a command that ends. */
  document(value: unknown): void {
    this.#io.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
  }

  /** One of many, for commands that stream. */
  line(value: unknown): void {
    this.#io.stdout.write(`${JSON.stringify(value)}\n`);
  }

  table(columns: readonly Column[], rows: readonly Row[]): string {
    return formatTable(columns, rows, { paint: this.paint, width: this.width });
  }

  /** For the person at the terminal; nothing in scripts. */
  note(text: string): void {
    if (this.json || this.#io.stderr.isTTY !== true) return;
    this.#io.stderr.write(`${paintFor(this.#io.stderr, this.#io.env)("dim", text)}\n`);
  }
}
