// Asks the research agent from a process of its own: `npm run ask -w @perdure/example-research -- "question"`
// ============================================================================================================
// It sends the question, follows the progress, puts the plan before you, and prints the report. The research does not
// depend on it: end this program, or kill the runtime, and ask again with the same --id.

import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline/promises";
import { setTimeout } from "node:timers/promises";
import { parseArgs, styleText } from "node:util";

import { createClient, RequestFailedError, type Client } from "perdure/client";
import type { z } from "zod";

import * as agent from "./agent.ts";
import type { Decision, Progress, Report, ResearchRequest, Topic } from "./types.ts";

const USAGE = `Usage: ask "question" [options]

  --id ID           the research; the same id again shows the same research (default: a new one)
  --auto-approve    ask nobody about the plan
  --topics N        topics at most (default 4)
  --rounds N        rounds of searching per topic (default 2)
  --corpus DIR      one of the folders that the runtime may search (RESEARCH_CORPUS)
  --url URL         the ingress (or PERDURE_URL; default http://127.0.0.1:8080)
  --admin URL       the admin API (or PERDURE_ADMIN; default http://127.0.0.1:9070)
`;

/** How long to wait for a runtime that does not answer, before it is asked again. */
const AGAIN_MS = 1_000;

const say = (text: string) => process.stderr.write(`${text}\n`);

async function main(): Promise<void> {
  const { values, positionals } = readArguments();
  const question = positionals.join(" ");
  if (values.help || question === "") {
    process.stdout.write(USAGE);
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  const client = connect(values);
  const id = values.id ?? `ask-${randomUUID().slice(0, 8)}`;
  const following = new AbortController();
  const [report] = await Promise.all([
    research(client, id, requestOf(question, values)).finally(() => following.abort()),
    follow(client, id, following.signal),
  ]);
  process.stdout.write(report.markdown);
  say(styleText("dim", `saved in ${report.file}`));
}

async function research(client: Client, id: string, request: z.input<typeof ResearchRequest>): Promise<Report> {
  const run = await client.send(agent.research, id).run(request);
  say(styleText("dim", `research ${id} is ${run.id}${run.status === "accepted" ? "" : ", which was asked before"}`));
  return untilAnswered(() => run.result());
}

function readArguments() {
  const text = { type: "string" } as const;
  const yes = { type: "boolean", default: false } as const;
  return parseArgs({
    allowPositionals: true,
    options: {
      id: text,
      topics: text,
      rounds: text,
      corpus: text,
      url: text,
      admin: text,
      "auto-approve": yes,
      help: { ...yes, short: "h" },
    },
  });
}

type Values = ReturnType<typeof readArguments>["values"];

function connect({ url, admin }: Values): Client {
  const { PERDURE_URL, PERDURE_ADMIN, PERDURE_TOKEN } = process.env;
  return createClient({
    url: url ?? PERDURE_URL ?? "http://127.0.0.1:8080",
    adminUrl: admin ?? PERDURE_ADMIN ?? "http://127.0.0.1:9070",
    headers: PERDURE_TOKEN === undefined ? {} : { authorization: `Bearer ${PERDURE_TOKEN}` },
    fetch,
    delay: (ms) => setTimeout(ms),
  });
}

function requestOf(question: string, values: Values): z.input<typeof ResearchRequest> {
  return {
    question,
    approval: values["auto-approve"] ? "auto" : "person",
    ...(values.topics === undefined ? {} : { topics: Number(values.topics) }),
    ...(values.rounds === undefined ? {} : { rounds: Number(values.rounds) }),
    ...(values.corpus === undefined ? {} : { corpus: values.corpus }),
  };
}

/** Shows each change of the research's progress, over restarts of the runtime, and has its plan decided. */
async function follow(client: Client, id: string, signal: AbortSignal): Promise<void> {
  let shown = "";
  const show = async () => {
    const progress = await untilAnswered(() => client.call(agent.research, id).progress(), signal);
    const text = describeProgress(progress);
    if (text === shown) return;
    shown = text;
    say(text);
    if (progress?.approval !== undefined) await decide(client, progress.approval, signal);
  };
  const atOnce = async () => {
    await setTimeout(AGAIN_MS, undefined, { signal });
    await show(); // It may wait for us since before.
  };
  const onChange = async () => {
    for await (const { type, data } of client.events({ filter: { service: "research" }, signal })) {
      const { key } = Object(data) as { readonly key?: unknown };
      if (type === "reset" || (type === "state" && key === id)) await show();
    }
  };
  await Promise.all([atOnce(), onChange()]).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

function describeProgress(progress: Progress | null): string {
  if (progress === null) return "not begun yet";
  const { stage, topics = [], finished } = progress;
  if (stage === "waiting for approval") return `the plan:\n${topics.map(describeTopic).join("\n")}`;
  return finished === undefined ? stage : `${stage}: ${finished} of ${topics.length} topics done`;
}

const describeTopic = ({ title, queries }: Topic, at: number) =>
  `  ${at + 1}. ${title} ${styleText("dim", `(${queries.join("; ")})`)}`;

async function decide(client: Client, approval: string, signal: AbortSignal): Promise<void> {
  if (!process.stdin.isTTY) {
    say(`approve it with: npx perdure resolve ${approval} '{"decision":"approve"}'`);
    return;
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question("approve (enter), reject (r), or your own topics, separated by ; ", {
      signal,
    });
    await client.resolve(approval, decisionOf(answer.trim()));
  } finally {
    terminal.close();
  }
}

function decisionOf(answer: string): z.input<typeof Decision> {
  if (/^(?:|a|y|yes|approve)$/i.test(answer)) return { decision: "approve" };
  if (/^(?:r|n|no|reject)$/i.test(answer)) return { decision: "reject" };
  return {
    decision: "edit",
    topics: answer
      .split(";")
      .map((title) => title.trim())
      .filter(Boolean),
  };
}

/** Asks again while the runtime is away: it was killed, perhaps, and comes back. What it says for good is thrown. */
async function untilAnswered<T>(ask: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof RequestFailedError)) throw error;
      if (tries === 0 && signal === undefined) say(styleText("dim", "the runtime is away, waiting for it"));
      await setTimeout(AGAIN_MS, undefined, signal === undefined ? {} : { signal });
    }
  }
}

main().catch((error: unknown) => {
  say(error instanceof Error ? error.message : String(error));
  if (error instanceof RequestFailedError && error.status === 0)
    say("Is the runtime running? Start it with: npm start");
  process.exitCode = 1;
});
