// A runtime over the memory store with real handlers, and both listeners on free ports.

import { request as httpRequest, type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http";
import { connect } from "node:net";
import { createMemoryStorage, openMemoryStore, type Limits, type Store } from "@perdure/engine";
import { Catalog, createInProcessExecutor, Runtime } from "@perdure/host";
import { ValidationError, type ErrorBody } from "@perdure/protocol";
import { createRegistry, handler, object, service, TerminalError, workflow, type StandardSchema } from "@perdure/sdk";
import { createServer, type Server, type ServedRuntime, type ServerOptions } from "../../src/server/index.ts";

/** A mail with a text `to`, as any schema library would check it. */
const mailSchema: StandardSchema<{ to: string }> = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate(value) {
      const { to } = (value ?? {}) as { to?: unknown };
      if (typeof to === "string") return { value: { to } };
      return { issues: [{ message: "must be text", path: ["to"] }] };
    },
    jsonSchema: {
      input: () => ({
        type: "object",
        properties: { to: { $ref: "#/$defs/address" } },
        required: ["to"],
        $defs: { address: { type: "string" } },
      }),
      output: () => ({ type: "object" }),
    },
  },
};

const mailer = service("mailer", {
  echo: async (_ctx, input: unknown) => input,
  hello: async () => "hello",
  nothing: async () => undefined,
  bytes: async (_ctx, input: Uint8Array) => new Uint8Array([...input].reverse()),
  headers: async (ctx) => ctx.headers,
  fail: async () => {
    throw new TerminalError("no stamps left", { status: 418, metadata: { path: "$.stamps" } });
  },
  mail: handler(
    { input: mailSchema, description: "Sends a mail" },
    async (_ctx, mail: { to: string }) => `sent to ${mail.to}`,
  ),
  secret: handler({ internal: true }, async () => "secret"),
  sleep: async (ctx, ms: number) => {
    await ctx.sleep(ms, "nap");
    return "slept";
  },
  wait: async (ctx) => {
    const { id, promise } = ctx.awakeable<unknown>();
    await ctx.step("announce", () => id);
    return promise;
  },
  listen: async (ctx, name: string) => ctx.signal(name),
  parent: async (ctx) => ctx.call("mailer").listen("never"),
  steps: async (ctx, count: number) => {
    for (let step = 0; step < count; step += 1) await ctx.step(`step ${step}`, () => "x".repeat(200));
    return count;
  },
  once: async (ctx) => ctx.step("charge", () => Promise.reject(new Error("nobody knows")), { atMostOnce: true }),
});

const inbox = object("inbox", {
  async add(ctx, note: string) {
    const notes = [...((await ctx.get<string[]>("notes")) ?? []), note];
    ctx.set("notes", notes);
    return { key: ctx.key, notes };
  },
  send: async (ctx) => `send of ${ctx.key}`,
  hold: async (ctx) => ctx.signal("release"),
});

const order = workflow("order", {
  run: async (ctx, what: string) => {
    const approved = await ctx.promise<boolean>("approved").get();
    return { what, approved };
  },
  approve: async (ctx) => {
    await ctx.promise("approved").resolve(true);
  },
});

export interface World {
  readonly server: Server;
  readonly runtime: Runtime;
  readonly ingress: string;
  readonly admin: string;
  readonly errors: unknown[];
  close(): Promise<void>;
}

export interface WorldOptions extends Partial<ServerOptions> {
  readonly limits?: Partial<Limits>;
  /** Default: the memory store. */
  readonly store?: Store;
  /** What the listeners get instead of the runtime itself. */
  readonly wrap?: (runtime: Runtime) => ServerOptions["runtime"];
}

export async function openWorld(options: WorldOptions = {}): Promise<World> {
  const { limits, wrap, store: _, ...serverOptions } = options;
  const registry = createRegistry([mailer, inbox, order]);
  const runtime = new Runtime({
    store: options.store ?? openMemoryStore(createMemoryStorage()),
    executor: createInProcessExecutor(registry, { log: () => undefined }),
    catalog: new Catalog(registry, { deployment: "test" }),
    ...(limits === undefined ? {} : { limits }),
  });
  await runtime.start();
  const errors: unknown[] = [];
  const server = createServer({
    ingress: { port: 0 },
    admin: { port: 0 },
    onError: (error) => errors.push(error),
    validateInput: (target, value) => (target.handler === "mail" ? checkMail(value) : null),
    ...serverOptions,
    runtime: wrap === undefined ? runtime : wrap(runtime),
  });
  const { ingress, admin } = await server.start();
  return { server, runtime, ingress: ingress.url, admin: admin.url, errors, close: () => server.close(200) };
}

function checkMail(value: unknown): ValidationError | null {
  const result = mailSchema["~standard"].validate(value);
  if (result instanceof Promise || result.issues === undefined) return null;
  return new ValidationError("the input of mailer/mail does not fit its schema: $.to: must be text", {
    metadata: { path: "$.to" },
  });
}

/** The runtime with some of its answers replaced. */
export function replaced(runtime: Runtime, by: Partial<ServedRuntime>): ServerOptions["runtime"] {
  return new Proxy(runtime, {
    get(target, name) {
      if (Object.hasOwn(by, name)) return by[name as keyof ServedRuntime];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- Tests look into answers of every shape.
  readonly json: any;
}

export async function ask(url: string, init: RequestInit & { readonly json?: unknown } = {}): Promise<Answer> {
  const { json, ...rest } = init;
  const withJson =
    json === undefined
      ? {}
      : {
          method: "POST",
          body: JSON.stringify(json),
          headers: { "content-type": "application/json", ...(init.headers as object) },
        };
  const response = await fetch(url, { signal: AbortSignal.timeout(20_000), ...rest, ...withJson });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json") === true;
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined };
}

export const post = (url: string, json?: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  json === undefined ? ask(url, { method: "POST", headers }) : ask(url, { json, headers });

export function errorOf(answer: Answer): ErrorBody["error"] {
  return (answer.json as ErrorBody).error;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** A request with headers that fetch does not let through (Host, Origin, Expect). */
export function rawAsk(
  url: string,
  options: {
    readonly method?: string;
    readonly headers?: OutgoingHttpHeaders;
    readonly body?: string;
    readonly path?: string;
  } = {},
): Promise<RawAnswer> {
  const { hostname, port, pathname, search } = new URL(url);
  // Node would send the body of a GET without saying that there is one.
  const length = options.body === undefined ? {} : { "content-length": Buffer.byteLength(options.body) };
  const headers = { ...length, ...options.headers };
  return new Promise((resolve, reject) => {
    const req = httpRequest(
      {
        hostname,
        port,
        path: options.path ?? pathname + search,
        method: options.method ?? "GET",
        headers,
        agent: false,
      },
      (res) => {
        let text = "";
        res.setEncoding("utf8");
        res.on("data", (chunk: string) => {
          text += chunk;
        });
        res.on("end", () => resolve({ status: res.statusCode ?? 0, headers: res.headers, text }));
      },
    );
    req.on("error", reject);
    req.end(options.body);
  });
}

/** Bytes as they are, until the server closes. */
export function exchange(url: string, request: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(Number(port), hostname, () => socket.write(request));
    socket.on("data", (data) => {
      text += String(data);
    });
    socket.on("close", () => resolve(text));
    socket.on("error", reject);
  });
}

/** Asks until `check` accepts the answer. */
export async function until<T>(get: () => Promise<T>, check: (value: T) => boolean): Promise<T> {
  const end = Date.now() + 10_000;
  for (;;) {
    const value = await get();
    if (check(value)) return value;
    if (Date.now() > end) throw new Error(`did not come to pass: ${JSON.stringify(value).slice(0, 2_000)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
