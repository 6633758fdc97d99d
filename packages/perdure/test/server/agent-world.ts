// A server with agents whose models say what a test lets them say, piece by piece.

import { agent, tool, type AgentOptions, type Script } from "@perdure/agents";
import { createMemoryStorage, openMemoryStore, type Limits, type Store } from "@perdure/engine";
import { Catalog, createInProcessExecutor, Runtime } from "@perdure/host";
import { createRegistry, object, service, validate, type AnyDefinition } from "@perdure/sdk";
import { ValidationError } from "@perdure/protocol";
import { scriptedModel } from "perdure/testing";
import { z } from "zod";
import { createServer, type Server, type ServerOptions } from "../../src/server/index.ts";

/** Lets a scripted model's pieces through, as many as it is told. Scripts ask for it with any `tokensPerSecond`. */
class Pace {
  #credit = 0;
  readonly #waiting: (() => void)[] = [];

  readonly delay = (_: number, callback: () => void): (() => void) => {
    if (this.#credit > 0) {
      this.#credit -= 1;
      queueMicrotask(callback);
      return () => undefined;
    }
    this.#waiting.push(callback);
    return () => {
      const at = this.#waiting.indexOf(callback);
      if (at >= 0) this.#waiting.splice(at, 1);
    };
  };

  release(pieces: number): void {
    this.#credit += pieces;
    for (const callback of this.#waiting.splice(0, this.#credit)) {
      this.#credit -= 1;
      callback();
    }
  }
}

export const SLOWLY = { tokensPerSecond: 1 };

/** Writes and trims streams. */
const notes = object("notes", {
  async write(ctx, items: readonly unknown[]) {
    for (const item of items) ctx.stream("log").append(item);
  },
  async many(ctx, { count, bytes }: { count: number; bytes: number }) {
    ctx.stream("log").append(...Array.from({ length: count }, (_, at) => ({ at, text: "x".repeat(bytes) })));
  },
  async trim(ctx, before: number) {
    ctx.stream("log").trim(before);
  },
  async live(ctx, texts: readonly string[]) {
    await ctx.step("say", async (info) => {
      for (const text of texts) info.stream("log").write(text);
    });
  },
});

const jobs = service("jobs", {
  async work(ctx, what: string) {
    ctx.stream("progress").append({ what, done: 0 }, { what, done: 1 });
    return ctx.runId;
  },
});

const vault = object("vault", { put: async (ctx) => ctx.stream("secrets").append("s3cret") }, { internal: true });
const opener = service("opener", { open: async (ctx, key: string) => ctx.call(vault, key).put() });

export interface AgentWorld {
  readonly server: Server;
  readonly runtime: Runtime;
  readonly ingress: string;
  readonly admin: string;
  readonly pace: Pace;
  readonly errors: unknown[];
  close(): Promise<void>;
}

export interface AgentWorldOptions extends Partial<Omit<ServerOptions, "runtime">> {
  readonly script?: Script;
  readonly agent?: Partial<AgentOptions>;
  readonly store?: Store;
  readonly limits?: Partial<Limits>;
  readonly more?: readonly AnyDefinition[];
}

const search = tool({
  description: "Searches.",
  kind: "read",
  inputSchema: z.object({ query: z.string() }),
  execute: ({ query }, { progress }) => {
    progress({ looked: 1 });
    return { hits: [`about ${query}`] };
  },
});

const publish = tool({
  description: "Publishes.",
  approval: "always",
  approvers: ["ada", "bob"],
  inputSchema: z.object({ text: z.string() }),
  execute: ({ text }) => `published ${text}`,
});

export async function openAgentWorld(options: AgentWorldOptions = {}): Promise<AgentWorld> {
  const { script = () => "Hello.", agent: agentOptions, store, limits, more = [], ...serverOptions } = options;
  const pace = new Pace();
  const model = scriptedModel(script, { delay: pace.delay });
  const researcher = agent("researcher", {
    model,
    tools: { search, publish },
    retry: { initial: "1ms", max: "1ms" },
    ...agentOptions,
  });
  const registry = createRegistry([researcher, notes, jobs, vault, opener, ...more]);
  const runtime = new Runtime({
    store: store ?? openMemoryStore(createMemoryStorage()),
    executor: createInProcessExecutor(registry, { log: () => undefined, suspendAfterMs: 20 }),
    catalog: new Catalog(registry),
    ...(limits === undefined ? {} : { limits }),
  });
  await runtime.start();
  const errors: unknown[] = [];
  const server = createServer({
    ingress: { port: 0 },
    admin: { port: 0 },
    onError: (error) => errors.push(error),
    validateInput: async (target, value) => {
      const schema = registry.find(target.service, target.handler)?.options.input;
      if (schema === undefined) return null;
      try {
        await validate(schema, value, "the input");
        return null;
      } catch (error) {
        if (error instanceof ValidationError) return error;
        throw error;
      }
    },
    ...serverOptions,
    runtime,
  });
  const { ingress, admin } = await server.start();
  const close = (): Promise<void> => server.close(100);
  return { server, runtime, ingress: ingress.url, admin: admin.url, pace, errors, close };
}

/** A turn of its script per request: by how many messages of tools there are. */
export function steps(...answers: readonly Exclude<Awaited<ReturnType<Script>>, string>[]): Script {
  return ({ messages }) => answers[messages.filter(({ role }) => role === "tool").length] ?? "Done.";
}

/** A memory store that takes its time to read a page of a stream. */
export function slowlyReadStore(ms: number): Store {
  const store = openMemoryStore(createMemoryStorage());
  const stream: Store["reader"]["stream"] = async (name, from, limit) => {
    if (limit > 1) await new Promise((resolve) => setTimeout(resolve, ms));
    return store.reader.stream(name, from, limit);
  };
  return replacing(store, "reader", replacing(store.reader, "stream", stream));
}

function replacing<T extends object, Name extends keyof T>(whole: T, name: Name, by: T[Name]): T {
  return new Proxy(whole, {
    get: (target, asked) => {
      const value: unknown = asked === name ? by : Reflect.get(target, asked, target);
      return typeof value === "function" && asked !== name ? value.bind(target) : value;
    },
  });
}
