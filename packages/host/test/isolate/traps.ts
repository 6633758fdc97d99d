// Code that an isolate has to survive, or to end without harm to others.

import { service } from "@perdure/sdk";

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
    for (;;) await null;
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
    const lengths: number[] = [];
    for (let round = 0; round < 2; round += 1) {
      let text = "";
      const parts: string[] = [];
      for (let n = 0; n < megabytes * 10; n += 1) parts.push(`${n} `.repeat(16_384));
      text = parts.at(-1) ?? "";
      lengths.push(text.length);
      parts.length = 0;
      await ctx.signal(`round ${round}`);
    }
    return lengths;
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
