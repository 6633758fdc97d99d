// A run that is remembered by images: it waits for words, and what it has heard stands in its own memory.

import { object } from "perdure";

/** Enough entries for an image to be worth its cost, whenever the run waits. */
const STEPS = 20;

export const keeper = object(
  "keeper",
  {
    /** Some steps before it listens, and some for each word, until it hears "end". */
    async listen(ctx) {
      const heard: string[] = [];
      for (let step = 1; step <= STEPS; step += 1) await ctx.step(`prepare ${step}`, () => step);
      for await (const word of ctx.signals<string>("word")) {
        if (word === "end") break;
        for (let step = 1; step <= STEPS; step += 1) await ctx.step(`${word} ${step}`, () => step);
        heard.push(word);
      }
      return heard.join(" ");
    },
  },
  { memory: "snapshot" },
);
