// Takes what runs report by HTTP, in order.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Reports<Report> {
  readonly url: string;
  next(): Promise<Report>;
  close(): void;
}

export async function listenForReports<Report>(): Promise<Reports<Report>> {
  const queue: Report[] = [];
  let wake = (): void => undefined;
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += String(chunk)));
    request.on("end", () => {
      queue.push(JSON.parse(body) as Report);
      response.end();
      wake();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async next() {
      while (queue.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      return queue.shift() as Report;
    },
    close: () => server.close(),
  };
}
