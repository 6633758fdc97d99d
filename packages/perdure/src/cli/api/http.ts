// Requests to a runtime. On node:http rather than fetch, since a run may take weeks to answer and fetch gives up after
// five minutes.

import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { UnreachableError } from "@perdure/protocol";
import { InterruptedError, RefusedError } from "../errors.ts";

export interface Connection {
  /** Without a slash at the end. */
  readonly url: string;
  readonly token: string | undefined;
  readonly signal: AbortSignal;
}

export interface HttpRequest {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly query?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text goes as it is, anything else as JSON. */
  readonly body?: unknown;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
}

/** The answer, as far as it has come: its body is still to be read. */
export async function open(connection: Connection, path: string, request: HttpRequest = {}): Promise<IncomingMessage> {
  const url = new URL(connection.url + path);
  for (const [name, value] of Object.entries(request.query ?? {})) {
    if (value === undefined) continue;
    if (typeof value === "object") for (const one of value) url.searchParams.append(name, one);
    else url.searchParams.set(name, String(value));
  }
  const headers: Record<string, string> = { accept: "application/json", ...request.headers };
  if (connection.token !== undefined) headers["authorization"] = `Bearer ${connection.token}`;
  let body: string | undefined;
  if (request.body !== undefined) {
    body = typeof request.body === "string" ? request.body : JSON.stringify(request.body);
    headers["content-type"] ??= "application/json";
    headers["content-length"] = String(Buffer.byteLength(body));
  }
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const sent = send(url, { method: request.method ?? "GET", headers, signal: connection.signal });
    sent.on("response", resolve);
    sent.on("error", (error) => reject(connectionError(error, connection)));
    sent.end(body);
  });
}

/** The whole answer. @throws RefusedError where it is not 2xx, as the runtime says it. */
async function ask(connection: Connection, path: string, request: HttpRequest = {}): Promise<HttpAnswer> {
  const response = await open(connection, path, request);
  const text = await bodyOf(response, connection);
  const answer = { status: response.statusCode ?? 0, headers: response.headers, text };
  if (answer.status < 200 || answer.status > 299) throw refusal(answer, `${connection.url}${path}`);
  return answer;
}

export async function askJson<T>(connection: Connection, path: string, request: HttpRequest = {}): Promise<T> {
  const answer = await ask(connection, path, request);
  try {
    return (answer.text === "" ? null : JSON.parse(answer.text)) as T;
  } catch (cause) {
    throw new UnreachableError(`${connection.url} answers, but not as a Perdure runtime does: no JSON came back`, {
      cause,
    });
  }
}

export async function bodyOf(response: IncomingMessage, connection: Connection): Promise<string> {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of response) chunks.push(chunk as Uint8Array);
  } catch (error) {
    throw connectionError(error as Error, connection);
  }
  return Buffer.concat(chunks).toString("utf8");
}

export function connectionError(error: Error, connection: Connection): Error {
  if (connection.signal.aborted) return new InterruptedError();
  const { code } = error as NodeJS.ErrnoException;
  const said: Readonly<Record<string, string>> = {
    ECONNREFUSED: "nothing listens there",
    ECONNRESET: "the connection broke",
    ENOTFOUND: "there is no such host",
    EAI_AGAIN: "the name cannot be looked up now",
    ETIMEDOUT: "nobody answered",
    EHOSTUNREACH: "the host cannot be reached",
    HPE_INVALID_CONSTANT: "what answers there does not speak HTTP",
  };
  const why = said[code ?? ""] ?? (error.message || code || "the connection failed");
  return new UnreachableError(`no runtime answers at ${connection.url}: ${why}`, { cause: error });
}

/** What an answer that was only opened says. */
export async function refusalOf(
  response: IncomingMessage,
  connection: Connection,
  path: string,
): Promise<RefusedError> {
  const { statusCode: status = 0, headers } = response;
  return refusal({ status, headers, text: await bodyOf(response, connection) }, connection.url + path);
}

/** Body of an answer that is not 2xx: a failure as JSON, or whatever somebody else wrote. */
export function refusal(answer: HttpAnswer, url: string): RefusedError {
  let body: Record<string, unknown> = {};
  try {
    const parsed: unknown = JSON.parse(answer.text);
    if (typeof parsed === "object" && parsed !== null) body = parsed as Record<string, unknown>;
  } catch {
    // Not ours: a proxy's page, perhaps. Its status says enough.
  }
  const inner =
    typeof body["error"] === "object" && body["error"] !== null ? (body["error"] as Record<string, unknown>) : body;
  const text = (name: string): string | undefined => (typeof inner[name] === "string" ? inner[name] : undefined);
  const code = text("errorCode") ?? text("code");
  const message = text("message") ?? `${url} answered ${answer.status}`;
  return new RefusedError(
    answer.status,
    message,
    code,
    inner["metadata"] as Readonly<Record<string, string>> | undefined,
  );
}
