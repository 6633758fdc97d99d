// Do the checkers of agents find anything? For each promise agents that break it, by a `ctx` that lies to them; some world of
// a few must show it.

import { APPROVALS } from "@perdure/agents";
import { ARRIVAL_SIGNAL, type QueuedMessage } from "@perdure/protocol";
import type { ObjectContext } from "@perdure/sdk";
import { describe, expect, test } from "vitest";
import type { BentContext } from "./agents/stage.ts";
import { BUDGETS } from "./outside/agent-targets.ts";
import type { Sabotage } from "./sim-host.ts";
import { runWorld } from "./world.ts";

const SEEDS_MAX = 300;

async function firstCatch(sabotage: Sabotage, promise: string): Promise<number | null> {
  for (let seed = 1; seed <= SEEDS_MAX; seed += 1) {
    const { violations } = await runWorld({ seed, executor: "agents", sabotage, impatient: true });
    if (violations.some((violation) => violation.promise === promise)) return seed;
  }
  return null;
}

type Changes = Readonly<Record<PropertyKey, unknown>>;

/** `ctx` with some of it changed. Its own methods keep their `this`: they look at private fields. */
function changed<T extends object>(target: T, changes: Changes): T {
  return new Proxy(target, {
    get: (real, name) => {
      if (Object.hasOwn(changes, name)) return changes[name];
      const value: unknown = Reflect.get(real, name, real);
      return typeof value === "function" ? (value.bind(real) as unknown) : value;
    },
  });
}

type Step = ObjectContext["step"];
type StepFunction = (info: unknown) => Promise<unknown>;

/** Steps whose name begins so run another function. */
function steps(begin: string, change: (fn: StepFunction) => StepFunction): BentContext {
  return (ctx) => {
    const step = ((name: string, fn: StepFunction, options: object) =>
      ctx.step(name, (name.startsWith(begin) ? change(fn) : fn) as never, options)) as Step;
    return changed(ctx, { step });
  };
}

interface Kept {
  readonly taken?: Readonly<Record<string, { readonly turn: string }>>;
}

/** What is kept in the key's state goes through `change` on its way there. */
function keeping(change: (session: Kept) => Kept): BentContext {
  return (ctx) => changed(ctx, { set: (name: string, value: Kept) => ctx.set(name, change(value)) });
}

/** Each arrival is told twice, and the two do not look the same. */
const twice: BentContext = (ctx) =>
  changed(ctx, {
    signals: (name: string) =>
      name === ARRIVAL_SIGNAL ? doubled(ctx.signals<QueuedMessage>(name)) : ctx.signals(name),
  });

async function* doubled(arrivals: AsyncIterable<QueuedMessage>): AsyncGenerator<QueuedMessage> {
  for await (const arrival of arrivals) {
    yield arrival;
    yield { ...arrival, run: new String(arrival.run) as typeof arrival.run };
  }
}

type Sends = Readonly<Record<string, (input: unknown) => unknown>>;

const DROPPED = Symbol("dropped");

/** What is sent goes through `change` on its way; `DROPPED`: it comes to nothing. */
function sending(change: (service: string, handler: string, input: unknown) => unknown): BentContext {
  return (ctx) => {
    const send = (definition: string | { readonly name: string }, ...rest: unknown[]): Sends => {
      const service = typeof definition === "string" ? definition : definition.name;
      const sends = (ctx.send as (...all: unknown[]) => Sends)(definition, ...rest);
      return new Proxy(sends, {
        get: (real, name) => (input: unknown) => {
          const sent = change(service, String(name), input);
          return sent === DROPPED ? Promise.resolve({ id: ctx.runId }) : real[String(name)]?.(sent);
        },
      });
    };
    return changed(ctx, { send });
  };
}

/** A question to a person is answered before anybody has answered it. */
const rash: BentContext = (ctx) => {
  const call = (definition: { readonly name: string }, ...rest: unknown[]): unknown => {
    const calls = (ctx.call as (...all: unknown[]) => Sends)(definition, ...rest);
    if (definition.name !== APPROVALS) return calls;
    return {
      run: (input: unknown) => {
        const asked = calls["run"]?.(input) as Promise<unknown> & { readonly handle: unknown };
        asked.catch(() => undefined);
        return Object.assign(Promise.resolve({ decision: "approved", by: "nobody", at: 0 }), { handle: asked.handle });
      },
    };
  };
  return changed(ctx, { call });
};

/** The transcript is read without its last item. */
const forgetful: BentContext = (ctx) =>
  changed(ctx, {
    stream: (name: string) => {
      const stream = ctx.stream(name);
      const isTranscript = name === "transcript";
      return changed(
        stream,
        isTranscript ? { read: async (from: number) => (await stream.read(from)).slice(0, -1) } : {},
      );
    },
  });

/** Other runs are never cancelled. */
const gentle: BentContext = (ctx) =>
  changed(ctx, { run: (id: string) => changed(ctx.run(id as never), { cancel: () => undefined }) });

const SABOTAGES: Readonly<Record<string, Readonly<Record<string, BentContext>>>> = {
  A1: {
    "a model that is asked twice in one step": steps("model", (fn) => async (info) => {
      await fn(info);
      return await fn(info);
    }),
  },
  A2: {
    "a model that is asked again behind the turn": steps("model", (fn) => async (info) => {
      const answer = await fn(info);
      setImmediate(() => void fn(info).catch(() => undefined));
      return answer;
    }),
  },
  A3: {
    "a session that does not keep what it has taken": keeping((session) => ({ ...session, taken: {} })),
    "arrivals that are told twice": twice,
    "a transcript whose end is not read": forgetful,
  },
  A4: {
    "answers that are not kept for those who are waiting": keeping((session) => ({
      ...session,
      taken: Object.fromEntries(Object.entries(session.taken ?? {}).map(([run, { turn }]) => [run, { turn }])),
    })),
  },
  A5: {
    "sub-agents that nobody watches": sending((_, handler, input) => (handler === "watch" ? DROPPED : input)),
    "a cancel that does not reach sub-agents": gentle,
  },
  A6: {
    "budgets that are told that nothing was used": sending((service, handler, input) =>
      service === BUDGETS && handler === "settle" ? { ...(input as object), tokens: 0 } : input,
    ),
    "budgets that are not told that a call is not made": sending((service, handler, input) =>
      service === BUDGETS && handler === "release" ? DROPPED : input,
    ),
  },
  A7: { "effects that begin before the approval": rash },
  A8: {
    "tries that are not begun": steps("model", (fn) => (info) => fn(withoutStarts(info as StepInfo))),
  },
};

interface StepInfo {
  stream(name: string): { write(...items: readonly { readonly type: string }[]): void };
}

function withoutStarts(info: StepInfo): StepInfo {
  return changed(info, {
    stream: (name: string) => {
      const stream = info.stream(name);
      return { write: (...items: readonly { readonly type: string }[]) => stream.write(...items.filter(isNoStart)) };
    },
  });
}

const isNoStart = ({ type }: { readonly type: string }): boolean => type !== "call-start";

describe("a broken agent is caught", () => {
  for (const [promise, sabotages] of Object.entries(SABOTAGES)) {
    for (const [what, context] of Object.entries(sabotages)) {
      test(`${promise}: ${what}`, async () => {
        expect(await firstCatch({ context }, promise), `no world of ${SEEDS_MAX} shows it`).not.toBeNull();
      });
    }
  }
});
