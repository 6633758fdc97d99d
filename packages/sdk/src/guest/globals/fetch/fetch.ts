// fetch: by the host, inside steps.

import type { AbortSignalLike } from "../../../ports.ts";
import { guestHost, type GuestResponse } from "../../host-port.ts";
import { Request, type RequestInit } from "./request.ts";
import { Response } from "./response.ts";
import type { URL } from "../url/url.ts";

export async function fetch(input: Request | URL | string, init: RequestInit = {}): Promise<Response> {
  const request = new Request(input, init);
  const { signal } = request;
  signal.throwIfAborted();
  const hasBody = request._hasBody;
  const body = hasBody ? await request._read() : null;
  const asked = guestHost.fetch({
    url: request.url,
    method: request.method,
    headers: [...request.headers],
    body,
    signal: signal as unknown as AbortSignalLike,
  });
  const answer = await unlessAborted(asked, request);
  const { status, statusText, headers } = answer;
  return Response._fetched(answer.body, { status, statusText, headers }, answer.url, request.url);
}

/** The host may take its time to give up; who aborts is told at once. */
function unlessAborted(asked: Promise<GuestResponse>, { signal }: Request): Promise<GuestResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<GuestResponse>();
  const abort = (): void => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  asked.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  return promise;
}
