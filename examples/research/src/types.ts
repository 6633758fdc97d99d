// The words of this example, and the forms of what comes from outside.

import { z } from "zod";

const TopicForm = z.object({
  title: z.string().trim().min(1).max(200),
  /** What the researcher searches for first. */
  queries: z.array(z.string().trim().min(1).max(300)).min(1).max(4),
});

/** What a person may write where a topic is meant: just its title is enough. */
const TopicInput = z.union([
  TopicForm,
  z
    .string()
    .trim()
    .min(1)
    .max(200)
    .transform((title) => ({ title, queries: [title] })),
]);

export const ResearchRequest = z.object({
  question: z.string().trim().min(3, "ask a question").max(2_000),
  /** `auto` goes on without a person. */
  approval: z.enum(["person", "auto"]).default("person"),
  /** At most so many topics, each researched by a run of its own. */
  topics: z.int().min(1).max(12).default(4),
  /** Rounds of searching per topic: a second one follows what the first left open. */
  rounds: z.int().min(1).max(4).default(2),
  /** One of the folders that the server may search; without it, the first of them. */
  corpus: z.string().min(1).optional(),
});

/** The answer of a person to a plan. No value at all approves it, too. */
export const Decision = z.union([
  z.object({ decision: z.literal("approve") }),
  z.object({ decision: z.literal("edit"), topics: z.array(TopicInput).min(1).max(12) }),
  z.object({ decision: z.literal("reject"), reason: z.string().default("no reason was given") }),
]);

export type ResearchRequest = z.infer<typeof ResearchRequest>;
export type Decision = z.infer<typeof Decision>;
export type Topic = z.infer<typeof TopicForm>;

/** What one run of a researcher is asked for. */
export interface Assignment {
  readonly question: string;
  readonly topic: Topic;
  readonly rounds: number;
  readonly corpus?: string | undefined;
}

/** A claim, and the ids of the passages that it rests on. */
interface Finding {
  readonly claim: string;
  readonly passages: readonly string[];
}

/** Where a passage stands: all that a citation needs. */
export interface Source {
  readonly id: string;
  readonly path: string;
  readonly line: number;
  readonly heading: string;
}

/** What a researcher found out. */
export interface Notes {
  readonly topic: string;
  readonly findings: readonly Finding[];
  /** Every passage that was read. */
  readonly read: readonly Source[];
  readonly usage: Usage;
}

export interface Usage {
  readonly calls: number;
  /** Absent where a model does not tell. */
  readonly tokens?: number;
  /** Which models answered: more than one where the settings changed on the way. */
  readonly models: readonly string[];
}

/** What the writer is asked for. */
export interface Order {
  /** Names the report's file. */
  readonly id: string;
  readonly question: string;
  readonly notes: readonly Notes[];
  /** What was paid so far. */
  readonly usage: Usage;
}

export interface Report {
  readonly question: string;
  readonly markdown: string;
  /** Cited as [1], [2], … in this order. */
  readonly sources: readonly Source[];
  readonly usage: Usage;
  /** Where the Markdown was saved. */
  readonly file: string;
}

/** What `progress` shows, and `ask.ts` follows. */
export interface Progress {
  readonly stage: "planning" | "waiting for approval" | "researching" | "writing" | "done";
  readonly topics?: readonly Topic[];
  /** The awakeable that waits for a `Decision`. */
  readonly approval?: string;
  /** Topics that are researched. */
  readonly finished?: number;
}
