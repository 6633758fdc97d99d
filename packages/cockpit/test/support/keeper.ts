// A run that is remembered by images: it waits for words, and what it has heard stands in its own memory.

import { object } from "perdure";

export const keeper = object(
  "keeper",
  {
    /** Some steps for each word, until it hears "end". */
    async listen(ctx, input: { readonly steps: number }) {
      const heard: string[] = [];
      await ctx.step("open the ears", () => "opened");
      for await (const word of ctx.signals<string>("word")) {
        if (word === "end") break;
        for (let step = 1; step <= input.steps; step += 1) await ctx.step(`${word} ${step}`, () => step);
        heard.push(word);
      }
      return heard.join(" ");
    },
  },
  { memory: "snapshot" },
);
