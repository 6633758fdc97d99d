// Sub-agents as their parent sees them: handles that last, since a sub-agent is a session of another agent under a key of its
// own, and its message a run. What the parent does not do (steering it, its end) leaves them alone.

import type { Context, ObjectContext, RunId } from "@perdure/sdk";
import { z } from "zod";
import { tool, type Toolset } from "../tools/tool.ts";
import type { AgentAnswer, AgentMessage } from "./messages.ts";
import type { ChildRecord } from "./session-state.ts";
import type { AgentStatus } from "./views.ts";
import type { TranscriptItem } from "./transcript.ts";

export type ChildStart = ChildRecord;

/** Where a sub-agent is found: its agent, its session, and the run that does what it was asked for. */
export interface ChildRef {
  readonly agent: string;
  readonly key: string;
  readonly run: RunId;
}

export interface Child {
  status(): Promise<AgentStatus>;
  /** The newest items of its transcript. */
  tail(items?: number): Promise<readonly TranscriptItem[]>;
  /** Its answer, when it has one. @throws its failure. */
  wait(): Promise<AgentAnswer>;
  /** Seen before its next model call. */
  steer(text: string): Promise<RunId>;
  /** More work for it, after what it is doing. */
  resume(text: string): Promise<RunId>;
  /** Stops what it generates now; with a text it goes on from that, without one its turn ends. */
  interrupt(text?: string): Promise<void>;
  /** Cancels it, and its own sub-agents. */
  abandon(): void;
}

/** A handle on any agent's session, from any handler. */
export function child(ctx: Context, { agent, key, run }: ChildRef, from?: string): Child {
  const send = async (text: string, policy: AgentMessage["policy"]): Promise<RunId> => {
    const sender = from === undefined ? {} : { from };
    const handle: { readonly id: RunId } = await ctx.send(agent, key).send({ text, policy, ...sender });
    return handle.id;
  };
  return {
    status: () => ctx.call(agent, key).status() as Promise<AgentStatus>,
    tail: (items = 5) => ctx.call(agent, key).history({ last: items }) as Promise<readonly TranscriptItem[]>,
    wait: () => ctx.run<AgentAnswer>(run).result(),
    steer: (text) => send(text, "steer"),
    resume: (text) => send(text, "queue"),
    interrupt: async (text) => {
      if (text === undefined) await ctx.call(agent, key).stop();
      else await send(text, "interrupt");
    },
    abandon: () => ctx.run(run).cancel(),
  };
}

/** Those that nobody's call awaits; the others are cancelled along with their calls (E7). */
export function cancelChildren(ctx: Context, children: readonly ChildRecord[]): void {
  for (const { background, run } of children) if (background) ctx.run(run).cancel();
}

const name = z.string().describe("the sub-agent's name");
const text = z.string().describe("what to tell it");
/** Made once: each is turned into JSON Schema but once. */
const inputs = {
  named: z.object({ name }),
  told: z.object({ name, text }),
  interrupted: z.object({ name, text: text.optional() }),
  tail: z.object({ name, items: z.number().int().min(1).max(50).default(5) }),
};

/** What a model may do with the sub-agents that it started in the background. */
export function childTools(children: () => readonly ChildRecord[]): Toolset {
  const find = (ctx: ObjectContext, asked: string): Child => {
    const record = children().findLast((one) => one.name === asked);
    if (record !== undefined) return child(ctx, record, "the parent agent");
    const names = children().map((one) => one.name);
    throw new Error(`There is no sub-agent "${asked}". There are: ${names.join(", ") || "none"}.`);
  };
  return {
    child_status: tool({
      description: "Says what a sub-agent is doing.",
      kind: "read",
      inputSchema: inputs.named,
      run: async (ctx, input) => await find(ctx, input.name).status(),
    }),
    child_tail: tool({
      description: "Shows the newest that a sub-agent said and did.",
      kind: "read",
      inputSchema: inputs.tail,
      run: async (ctx, input) => await find(ctx, input.name).tail(input.items),
    }),
    child_wait: tool({
      description: "Waits for a sub-agent's answer.",
      kind: "read",
      inputSchema: inputs.named,
      run: async (ctx, input) => (await find(ctx, input.name).wait()).text,
    }),
    child_steer: tool({
      description: "Tells a sub-agent something while it works.",
      kind: "read",
      inputSchema: inputs.told,
      run: async (ctx, input) => ({ told: await find(ctx, input.name).steer(input.text) }),
    }),
    child_resume: tool({
      description: "Gives a sub-agent more to do, after what it is doing.",
      kind: "read",
      inputSchema: inputs.told,
      run: async (ctx, input) => ({ told: await find(ctx, input.name).resume(input.text) }),
    }),
    child_interrupt: tool({
      description: "Stops what a sub-agent is doing now; with a text, it goes on from that.",
      kind: "read",
      inputSchema: inputs.interrupted,
      run: async (ctx, input) => {
        await find(ctx, input.name).interrupt(input.text);
        return "interrupted";
      },
    }),
    child_abandon: tool({
      description: "Cancels a sub-agent for good.",
      kind: "read",
      inputSchema: inputs.named,
      run: (ctx, input) => {
        find(ctx, input.name).abandon();
        return Promise.resolve("abandoned");
      },
    }),
  };
}
