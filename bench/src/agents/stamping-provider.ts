// Stamping provider
// =================
// OpenAI's chat completions as a stream, each token saying of itself which it is and when it was sent: `<number>.<µs>`, by the
// clock that all processes of a machine share. `stamping-provider.ts <tokens> <tokens a second>`.
//
// The scripted provider of perdure/testing decides all tokens before it sends the first, so it cannot stamp them. A token is
// sent when its time has come, not one pause after the last one: lateness does not add up.

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const [tokensText = "", rateText = ""] = process.argv.slice(2);
const tokens = Number(tokensText);
const gapMs = 1_000 / Number(rateText);

const nowMicros = (): string => String(process.hrtime.bigint() / 1_000n);

function chunk(delta: object, finish: string | null = null): string {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
  return `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 0, model: "stamped", choices })}\n\n`;
}

function speak(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(chunk({ role: "assistant" }));
  // Streams that are asked for together do not speak in step.
  const beginsAt = performance.now() + Math.random() * gapMs;
  let sent = 0;
  const next = (): void => {
    if (response.destroyed) return;
    response.write(chunk({ content: ` ${sent}.${nowMicros()}` }));
    sent += 1;
    if (sent < tokens) setTimeout(next, Math.max(0, beginsAt + sent * gapMs - performance.now()));
    else response.end(`${chunk({}, "stop")}data: [DONE]\n\n`);
  };
  setTimeout(next, beginsAt - performance.now());
}

const server = createServer((request, response) => {
  request.resume();
  request.once("end", () => speak(response));
});
server.keepAliveTimeout = 120_000;
server.listen(0, "127.0.0.1", 1_024, () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` });
});
process.once("disconnect", () => process.exit(0));
