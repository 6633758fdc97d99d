// A response as it was recorded: `HTTP/1.1 429 Too Many Requests`, headers, an empty line, the body.

import { AssertionError } from "@perdure/protocol";

export interface RecordedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The events of a stream, each with the empty line that ends it; a document is one piece. */
  readonly pieces: readonly string[];
}

export function parseRecording(recording: string): RecordedResponse {
  const text = recording.replaceAll("\r\n", "\n");
  const end = text.indexOf("\n\n");
  const [statusLine = "", ...headerLines] = text.slice(0, end === -1 ? text.length : end).split("\n");
  const status = /^HTTP\/1\.1 (\d{3})\b/.exec(statusLine)?.[1];
  if (status === undefined)
    throw new AssertionError(`a recording begins with a line such as "HTTP/1.1 200 OK", not with "${statusLine}"`);
  const headers = headerLines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  const body = end === -1 ? "" : text.slice(end + 2);
  const fields = Object.fromEntries(headers);
  const isStream = fields["content-type"]?.startsWith("text/event-stream") === true;
  const pieces = isStream ? (body.match(/[^]+?\n\n|[^]+$/g) ?? []) : [body];
  return { status: Number(status), headers: fields, pieces };
}
