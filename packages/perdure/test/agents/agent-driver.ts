// A driver that talks to an agent at set times.

import {
  service,
  type AgentAnswer,
  type AgentDefinition,
  type AgentMessage,
  type Context,
  type ServiceDefinition,
} from "perdure";

/** A message, said so long after the start. */
export interface Line {
  readonly afterMs: number;
  readonly say: AgentMessage | string;
}

type Drive = (ctx: Context, lines: readonly Line[]) => Promise<readonly (AgentAnswer | string)[]>;

/** Says each line at its time, and answers with what each got: an answer, or the message of its failure. */
export function driver(
  agent: AgentDefinition,
  name = "driver",
  key = "s1",
): ServiceDefinition<{ readonly drive: Drive }> {
  return service(name, {
    drive: async (ctx: Context, lines: readonly Line[]) => {
      const asked: Promise<AgentAnswer | string>[] = [];
      let now = 0;
      for (const { afterMs, say } of lines) {
        if (afterMs > now) await ctx.sleep(afterMs - now);
        now = Math.max(now, afterMs);
        const { id } = await ctx.send(agent, key).send(say);
        const answer = ctx.run<AgentAnswer>(id).result();
        asked.push(answer.catch((error: unknown) => (error as Error).message));
      }
      return await Promise.all(asked);
    },
  });
}

export const DRIVE = { service: "driver", handler: "drive" };
