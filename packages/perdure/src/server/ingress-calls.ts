// Calls and sends: the path that has to be fast
// =============================================
//   POST /{service}/{handler}          POST /{object}/{key}/{handler}          answers with the run's result
//   POST /{service}/{handler}/send     POST /{object}/{key}/{handler}/send     answers 202 as soon as the run is durable
//   GET  the first two, for handlers without an input schema
//
// Three segments are told apart by what the first one names: a service has no keys, an object's handler may be called send.
//
// Fastify routes; body and answer are handled here. Its body parser (an async resource and a parsed content type per request)
// and its reply (hooks, serialiser, content type again) cost a sixth of a small call and do nothing for this path.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { SubmitRequest } from "@perdure/host";
import {
  BadRequestError,
  UnknownTargetError,
  parseDuration,
  type HandlerManifest,
  type SendAnswer,
  type Target,
} from "@perdure/protocol";
import { sendJson, sendResult } from "./answers.ts";
import { decodeBody, isBytesType, readBody, type Body } from "./body.ts";
import type { IngressOptions, ServedRuntime, ValidateInput } from "./context.ts";
import { RequestError, type ErrorAnswers } from "./errors.ts";
import { crossOrigin } from "./guard.ts";

const KEY_LENGTH_MAX = 1_024;
const IDEMPOTENCY_KEY_LENGTH_MAX = 1_024;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

interface Params {
  readonly a: string;
  readonly b: string;
  readonly c: string;
}

type Query = Readonly<Record<string, string | string[] | undefined>>;

export class CallRoutes {
  readonly #runtime: ServedRuntime;
  readonly #answers: ErrorAnswers;
  readonly #validate: ValidateInput | undefined;
  readonly #passHeaders: readonly string[];

  constructor(runtime: ServedRuntime, answers: ErrorAnswers, options: IngressOptions) {
    this.#runtime = runtime;
    this.#answers = answers;
    this.#validate = options.validateInput;
    this.#passHeaders = ["traceparent", "tracestate", ...(options.passHeaders ?? []).map((name) => name.toLowerCase())];
  }

  /** `/{service}/{handler}` */
  readonly two = (request: FastifyRequest, reply: FastifyReply): void => {
    const { a, b } = request.params as Params;
    this.#start(request, reply, { service: a, handler: b }, false);
  };

  /** `/{object}/{key}/{handler}`, or `/{service}/{handler}/send` */
  readonly three = (request: FastifyRequest, reply: FastifyReply): void => {
    const { a, b, c } = request.params as Params;
    const isSend = c === "send" && this.#runtime.catalog.service(a)?.kind === "service";
    this.#start(request, reply, isSend ? { service: a, handler: b } : { service: a, key: b, handler: c }, isSend);
  };

  /** `/{object}/{key}/{handler}/send` */
  readonly four = (request: FastifyRequest, reply: FastifyReply): void => {
    const { a, b, c } = request.params as Params;
    this.#start(request, reply, { service: a, key: b, handler: c }, true);
  };

  #start(request: FastifyRequest, reply: FastifyReply, target: Target, isSend: boolean): void {
    reply.hijack();
    const req = request.raw;
    const res = reply.raw;
    try {
      const handler = checkTarget(this.#runtime, target);
      const query = request.query as Query;
      const delay = query["delay"];
      if (delay !== undefined && !isSend)
        throw new BadRequestError("a delay goes with /send: a call waits for its result");
      const startAt = delay === undefined ? undefined : Date.now() + parseDuration(String(delay));
      if (req.method === "GET") {
        this.#get(req, res, target, handler, isSend);
        return;
      }
      readBody(req, (bytes, error) => {
        if (error === null) this.#received(req, res, target, bytes, isSend, startAt);
        else this.#answers.send(req, res, error);
      });
    } catch (error) {
      this.#answers.send(req, res, error);
    }
  }

  #get(req: IncomingMessage, res: ServerResponse, target: Target, handler: HandlerManifest, isSend: boolean): void {
    if (isSend || handler.inputSchema !== undefined) {
      throw new RequestError(
        405,
        `${pathOf(target)} ${isSend ? "is sent to" : "takes an input: it is called"} by POST`,
        { allow: "POST" },
      );
    }
    const refused = crossOrigin(req);
    if (refused !== null) throw refused;
    this.#received(req, res, target, NOTHING, false, undefined);
  }

  #received(
    req: IncomingMessage,
    res: ServerResponse,
    target: Target,
    bytes: Buffer,
    isSend: boolean,
    startAt: number | undefined,
  ): void {
    try {
      const body = decodeBody(req.headers["content-type"], bytes);
      const request = this.#request(req, target, body, startAt);
      const verdict = this.#validate === undefined ? null : this.#validate(target, body.value);
      if (verdict === null) this.#run(req, res, request, isSend);
      else if (verdict instanceof Promise) {
        verdict.then(
          (later) => (later === null ? this.#run(req, res, request, isSend) : this.#answers.send(req, res, later)),
          (error: unknown) => this.#answers.send(req, res, error),
        );
      } else this.#answers.send(req, res, verdict);
    } catch (error) {
      this.#answers.send(req, res, error);
    }
  }

  #request(req: IncomingMessage, target: Target, body: Body, startAt: number | undefined): SubmitRequest {
    const request: Mutable<SubmitRequest> = { target, input: body.payload };
    const idempotencyKey = req.headers["idempotency-key"];
    if (idempotencyKey !== undefined) request.idempotencyKey = checkIdempotencyKey(String(idempotencyKey));
    if (startAt !== undefined) request.startAt = startAt;
    const headers = this.#headers(req, body);
    if (headers !== null) request.headers = headers;
    return request;
  }

  /** Only what is asked for: the rest is about the connection, or secret, and would stand in the journal for ever. */
  #headers(req: IncomingMessage, body: Body): Record<string, string> | null {
    let passed: Record<string, string> | null = null;
    for (const name of this.#passHeaders) {
      const value = req.headers[name];
      if (value !== undefined) (passed ??= {})[name] = String(value);
    }
    const contentType = req.headers["content-type"];
    if (isBytesType(contentType, body)) (passed ??= {})["content-type"] = contentType;
    return passed;
  }

  #run(req: IncomingMessage, res: ServerResponse, request: SubmitRequest, isSend: boolean): void {
    if (isSend) {
      this.#runtime.submit(request).then(
        ({ run, existing }) => {
          const answer: SendAnswer = { runId: run, status: existing ? "previouslyAccepted" : "accepted" };
          sendJson(res, 202, answer, run);
        },
        (error: unknown) => this.#answers.send(req, res, error),
      );
      return;
    }
    this.#runtime
      .call(request, (withdraw) => res.on("close", withdraw))
      .then(
        ({ run, result }) => sendResult(req, res, result, run, this.#answers),
        (error: unknown) => this.#answers.send(req, res, error),
      );
  }
}

const NOTHING: Buffer = Buffer.alloc(0);

/** @throws UnknownTargetError, BadRequestError */
export function checkTarget(runtime: Pick<ServedRuntime, "catalog">, target: Target): HandlerManifest {
  const handler = runtime.catalog.handler(target);
  if (handler === undefined) throw runtime.catalog.unknown(target);
  if (handler.internal === true)
    throw new UnknownTargetError(`${pathOf(target)} is internal: only other handlers can call it`);
  const { key } = target;
  if (key !== undefined) checkKey(key, `${target.service} is addressed as /${target.service}/{key}/${target.handler}`);
  return handler;
}

/** @throws BadRequestError */
export function checkKey(key: string, how: string): void {
  if (key === "") throw new BadRequestError(`the key is empty: ${how}`);
  if (key.length > KEY_LENGTH_MAX)
    throw new BadRequestError(`the key has ${key.length} characters, at most ${KEY_LENGTH_MAX} are taken`);
}

/** @throws BadRequestError */
export function checkIdempotencyKey(key: string): string {
  if (key === "") throw new BadRequestError("the idempotency key is empty");
  if (key.length > IDEMPOTENCY_KEY_LENGTH_MAX)
    throw new BadRequestError(
      `the idempotency key has ${key.length} characters, at most ${IDEMPOTENCY_KEY_LENGTH_MAX} are taken`,
    );
  return key;
}

function pathOf(target: Target): string {
  return target.key === undefined
    ? `/${target.service}/${target.handler}`
    : `/${target.service}/${encodeURIComponent(target.key)}/${target.handler}`;
}
