// Code that an isolate has to survive, or to end without harm to others.

import { service } from "@perdure/sdk";
import { hands } from "./hands.ts";

const recurse = (depth: number): number => recurse(depth + 1) + 1;

function overflow(): string {
  try {
    return String(recurse(0));
  } catch (error) {
    return error instanceof Error ? error.name : "no error";
  }
}

export const traps = service("traps", {
  async loop(ctx) {
    await ctx.signal("go");
    for (;;);
  },
  async microtasks(ctx) {
    await ctx.signal("go");
    for (;;) await Promise.resolve();
  },
  async memory(ctx) {
    await ctx.signal("go");
    const held: string[] = [];
    for (;;) held.push("x".repeat(100_000) + held.length);
  },
  async hugeText(ctx) {
    await ctx.signal("go");
    let text = "0123456789abcdef";
    for (;;) text += text;
  },
  async recursion(ctx) {
    const names = [overflow()];
    await ctx.signal("go");
    names.push(overflow());
    await ctx.signal("again");
    names.push(overflow());
    return names;
  },
  async recursionUncaught(ctx) {
    await ctx.signal("go");
    return recurse(0);
  },
  async garbage(ctx, megabytes: number) {
    const sums: number[] = [];
    for (const count of [megabytes, 1]) {
      const parts = Array.from({ length: count }, (_, n) => new Uint8Array(1_000_000).fill(n + 1));
      sums.push(parts.reduce((sum, part) => sum + (part[0] ?? 0), 0));
      parts.length = 0;
      await ctx.signal("go on");
    }
    return sums;
  },
  async traceless(ctx) {
    const kept = `KEPT ${ctx.runId.length > 0 ? 1_250 : 0}`;
    let gone: unknown[] | null = [];
    for (let n = 0; n < 500; n += 1) gone.push(`WITHOUT A TRACE ${n}`, { large: `WITHOUT A TRACE ${n} `.repeat(100) });
    gone = null;
    await ctx.signal("go");
    return { kept, again: Array.from({ length: 500 }, (_, n) => `again ${n}`).length };
  },
  async calls(ctx) {
    await ctx.step("call 1", () => hands("one"));
    await ctx.step("call 2", () => hands("two"));
    return ctx.signal("go");
  },
  async patient(ctx) {
    const first = await ctx.signal<string>("go");
    const second = await ctx.signal<string>("again");
    return `${first} ${second}`;
  },
  async chance(ctx) {
    const before = [Math.random(), ctx.random()];
    await ctx.signal("go");
    const later = await ctx.step("in a step", () => Math.random());
    return { before, after: [Math.random(), ctx.random(), ctx.uuid()], later };
  },
  async turns(ctx, count: number) {
    const heard: unknown[] = [];
    for (let turn = 0; turn < count; turn += 1) {
      heard.push(await ctx.step(`turn ${turn}`, () => ({ turn, text: "t".repeat(400) })));
      await ctx.signal("go");
    }
    return heard.length;
  },
});
