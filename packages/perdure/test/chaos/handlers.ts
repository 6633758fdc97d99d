// Handlers whose every effect leaves a line in a ledger outside of the store. A line says who did what, and on which
// earlier results it was based, so that the ledger can be held against the journals afterwards.

import { appendFileSync } from "node:fs";
import { setTimeout as later } from "node:timers/promises";
import { object, service } from "@perdure/sdk";

export interface LedgerLine {
  readonly run: string;
  readonly step: string;
  /** Drawn anew by each execution. */
  readonly nonce: string;
  /** What the code had seen of the step before: the nonce that was journaled for it. */
  readonly based: string;
}

const ledger = process.env["CHAOS_LEDGER"] ?? "";

async function effect(run: string, step: string, based: string): Promise<string> {
  const nonce = Math.random().toString(36).slice(2);
  // One write of one short line with O_APPEND: whole or not there, also when the process dies.
  appendFileSync(ledger, `${JSON.stringify({ run, step, nonce, based } satisfies LedgerLine)}\n`);
  if (Math.random() < 0.3) await later(Math.random() * 10);
  return nonce;
}

export const chain = service("chain", {
  async go(ctx, input: { steps: number }) {
    let based = "";
    for (let i = 0; i < input.steps; i += 1) {
      const before = based;
      based = await ctx.step(`s${i}`, () => effect(ctx.runId, `s${i}`, before));
      if (i === 2) await ctx.sleep("20ms");
    }
    return based;
  },
});

export const account = object("account", {
  async deposit(ctx, amount: number) {
    const balance = ((await ctx.get<number>("balance")) ?? 0) + amount;
    await ctx.step("book", () => effect(ctx.runId, "book", ""));
    ctx.set("balance", balance);
    return balance;
  },
});

export const tree = service("tree", {
  async fanOut(ctx, input: { children: number }) {
    const results = await Promise.all(Array.from({ length: input.children }, () => ctx.call(chain).go({ steps: 3 })));
    await ctx.step("join", () => effect(ctx.runId, "join", ""));
    return results.length;
  },
});
