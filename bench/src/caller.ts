// Caller
// ======
// One caller of the load generator: posts JSON over one keep-alive HTTP/1.1 connection, one request at a time.
// A general client (undici, its raw `dispatch`) took 65 µs of processor time an answer, this takes 38: at the speed of
// the floor that is most of the second core, which showed as a tenth less throughput and a higher p99.
// This one knows only what servers answer to such a request:
// a status line, headers, and a body with `content-length` or in chunks. Anything else is an error.

import { connect } from "node:net";

export interface CallerEvents {
  /** The first request body. */
  first(): string;
  /** The whole answer is there; returns the next request body. What it throws ends the caller. */
  answered(status: number, body: string): string;
  failed(error: unknown): void;
}

export function startCaller(url: string, events: CallerEvents): void {
  const { hostname, port, pathname } = new URL(url);
  const head = `POST ${pathname} HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-type: application/json\r\naccept: application/json\r\ncontent-length: `;
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  let received = "";
  const send = (body: string): void => {
    received = "";
    socket.write(`${head}${body.length}\r\n\r\n${body}`, "latin1");
  };
  socket.setEncoding("latin1");
  socket.on("connect", () => send(events.first()));
  socket.on("data", (text: string) => {
    received += text;
    try {
      const answer = parse(received);
      if (answer !== undefined) send(events.answered(answer.status, answer.body));
    } catch (error) {
      socket.destroy();
      events.failed(error);
    }
  });
  socket.on("error", events.failed);
  socket.on("close", () => events.failed(new Error("the server closed the connection")));
}

/** `undefined` until the answer is whole. */
export function parse(text: string): { status: number; body: string } | undefined {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const status = Number(text.slice(9, 12));
  const headers = text.slice(0, end).toLowerCase();
  const at = headers.indexOf("\r\ncontent-length:");
  if (at >= 0) {
    const length = Number.parseInt(headers.slice(at + 17), 10);
    const missing = end + 4 + length - text.length;
    if (missing < 0) throw new Error("more came than was announced");
    return missing > 0 ? undefined : { status, body: text.slice(end + 4) };
  }
  if (!headers.includes("\r\ntransfer-encoding: chunked")) throw new Error(`an answer of unknown length: ${headers}`);
  let body = "";
  let from = end + 4;
  for (;;) {
    const line = text.indexOf("\r\n", from);
    if (line < 0) return undefined;
    const length = Number.parseInt(text.slice(from, line), 16);
    if (length === 0) return text.endsWith("\r\n\r\n") ? { status, body } : undefined;
    if (text.length < line + 2 + length + 2) return undefined;
    body += text.slice(line + 2, line + 2 + length);
    from = line + 2 + length + 2;
  }
}
