// Types, checked by the compiler: everything is inferred, and `ctx` is never annotated.

import { describe, expect, expectTypeOf, it } from "vitest";

import type { RunHandle } from "../context/calls.ts";
import type { StandardSchema } from "../standard-schema.ts";
import { handler, shared } from "./handler.ts";
import { object, service, workflow } from "./service.ts";

declare function smtp(mail: { to: string; text: string }, idempotencyKey: string): Promise<{ id: number }>;

// The example of the README, as it stands there.
export const mailer = service("mailer", {
  async send(ctx, mail: { to: string; text: string }) {
    return ctx.step("smtp", ({ idempotencyKey }) => smtp(mail, idempotencyKey), { retry: { maxAttempts: 5 } });
  },
});

export const inbox = object("inbox", {
  async add(ctx, note: string) {
    const notes = (await ctx.get<string[]>("notes")) ?? [];
    ctx.set("notes", [...notes, note]);
    await ctx.call(mailer).send({ to: ctx.key, text: note });
    // oxlint-disable-next-line typescript/no-floating-promises -- a send need not be awaited
    ctx.send(inbox, ctx.key, { delay: "7d" }).remind();
  },
  async remind(_ctx) {},
});

interface Draft {
  readonly title?: string | undefined;
}
const draft = {} as StandardSchema<Draft, { title: string }>;
const count = {} as StandardSchema<number, string>;

const options = (): object => ({
  "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) },
});
Object.assign(draft, options());
Object.assign(count, options());

const library = object("library", {
  async plain(ctx, n: number) {
    ctx.set("n", n);
    return { n };
  },
  none: (ctx) => ctx.key,
  async optional(_ctx, n?: number) {
    return n;
  },
  schema: handler({ input: draft, output: count }, async (ctx, input) => {
    expectTypeOf(input).toEqualTypeOf<{ title: string }>();
    ctx.set("title", input.title);
    return input.title.length;
  }),
  described: handler({ description: "no schemas" }, async (ctx) => ctx.key.length),
  reads: shared(async (ctx, n: number) => {
    // @ts-expect-error a shared handler does not write
    ctx.set = n;
    return [await ctx.get<number>("n"), n] as const;
  }),
  readsSchema: shared({ input: draft }, async (_, input) => input.title),
  alsoShared: handler({ shared: true, input: draft }, async (ctx, input) => {
    // @ts-expect-error a shared handler does not write
    ctx.clear = input;
    return 1;
  }),
});

const approval = workflow("approval", {
  async run(ctx, title: string) {
    ctx.set("title", title);
    return ctx.promise<boolean>("decision").get();
  },
  async decide(ctx, yes: boolean) {
    // @ts-expect-error only `run` writes
    ctx.set = yes;
    await ctx.promise<boolean>("decision").resolve(yes);
  },
  peek: shared(async (ctx) => ctx.promise<boolean>("decision").peek()),
});

export const types = service("types", {
  async calls(ctx) {
    expectTypeOf(await ctx.call(mailer).send({ to: "", text: "" })).toEqualTypeOf<{ id: number }>();
    expectTypeOf(await ctx.call(library, "k").plain(1)).toEqualTypeOf<{ n: number }>();
    expectTypeOf(await ctx.call(library, "k").none()).toEqualTypeOf<string>();
    expectTypeOf(await ctx.call(library, "k").optional()).toEqualTypeOf<number | undefined>();
    expectTypeOf(await ctx.call(library, "k").schema({})).toEqualTypeOf<string>();
    expectTypeOf(await ctx.call(library, "k").described()).toEqualTypeOf<number>();
    expectTypeOf(await ctx.call(library, "k").reads(1)).toEqualTypeOf<readonly [number | undefined, number]>();
    expectTypeOf(await ctx.call(library, "k").readsSchema({})).toEqualTypeOf<string>();
    expectTypeOf(await ctx.call(approval, "k").run("t")).toEqualTypeOf<boolean>();
    expectTypeOf(await ctx.call(approval, "k").peek()).toEqualTypeOf<boolean | undefined>();
    expectTypeOf(ctx.call(inbox, "k").add("n").handle.id()).resolves.toBeString();
    expectTypeOf(ctx.send(library, "k", { delay: "1h" }).plain(1)).resolves.toEqualTypeOf<RunHandle<{ n: number }>>();
    expectTypeOf(ctx.run<number>("run_1").result()).resolves.toBeNumber();
    expectTypeOf(await ctx.call("untyped", "key").anything({ a: 1 })).toBeAny();
    expectTypeOf(ctx.step("s", () => 1)).resolves.toBeNumber();
    expectTypeOf(ctx.step("s", async () => "a")).resolves.toBeString();
    // @ts-expect-error a key is missing
    void ctx.call(library).plain(1);
    // @ts-expect-error a service has no key
    void ctx.call(mailer, "k").send({ to: "", text: "" });
    // @ts-expect-error the input is missing
    void ctx.call(library, "k").plain();
    // @ts-expect-error the input is another one
    void ctx.call(library, "k").plain("1");
    // @ts-expect-error there is no such handler
    void ctx.call(library, "k").plian(1);
    // @ts-expect-error a service has no state
    void ctx.get("a");
    // @ts-expect-error the reconciled value is not what the step gives
    void ctx.step("s", () => 1, { atMostOnce: true, reconcile: () => ({ happened: true, value: "a" }) });
  },
});

// @ts-expect-error a workflow needs a run
const missing = (): unknown => workflow("w", { other: async () => {} });

describe("inference", () => {
  it("leaves plain data behind", () => {
    expect([...inbox.specs.keys()]).toEqual(["add", "remind"]);
    expect([...library.specs.values()].map((spec) => spec.mode)).toEqual([
      ...Array.from({ length: 5 }, () => "exclusive"),
      ...Array.from({ length: 3 }, () => "shared"),
    ]);
    expect(missing).toThrow('workflow "w" needs a handler "run"');
  });
});
