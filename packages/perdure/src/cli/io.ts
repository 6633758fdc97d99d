// What a command sees of its process. Tests give another one.

/** As much of a writable stream as commands use. */
export interface OutputStream {
  write(text: string | Uint8Array): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

export interface InputStream extends AsyncIterable<Uint8Array | string> {
  readonly isTTY?: boolean | undefined;
}

export type StopSignal = "SIGINT" | "SIGTERM";

export interface Io {
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  now(): number;
  /** Fires at the first SIGINT or SIGTERM that nobody took with `onStop`. */
  readonly interrupted: AbortSignal;
  /** Takes the signals from now on; the function that is returned gives them back. */
  onStop(listener: (signal: StopSignal) => void): () => void;
}

/** Everything that stands on standard input. */
export async function readAll(input: InputStream): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of input) chunks.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
  return Buffer.concat(chunks).toString("utf8");
}
