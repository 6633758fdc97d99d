// A research agent: it plans, asks a person, sends out researchers, and writes a cited report
// ==============================================================================================
//   research/{id}/run ─▶ survey ─▶ plan ─▶ a person approves ─┬▶ researcher.study ─┐
//                                                             ├▶ researcher.study ─┼▶ writer.write ─▶ report
//                                                             └▶ researcher.study ─┘
//
// These are ordinary async functions. Kill the process anywhere, start it again, and each goes on from the step it had
// reached: no search, no model call and no approval is repeated.

import { handler, service, shared, TerminalError, workflow, type WorkflowContext } from "perdure";

import * as desk from "./desk.ts";
import { MODEL, TOOL } from "./desk.ts";
import { emptyNotes, NO_USAGE, sumUsage, unread, usageOf, withFindings } from "./notes.ts";
import { emptyReport, numberedFindings, renderReport, sourcesOf } from "./report.ts";
import {
  Decision,
  ResearchRequest,
  type Assignment,
  type Notes,
  type Order,
  type Progress,
  type Report,
  type Topic,
} from "./types.ts";

/** One research per id: asked again under the same id, it gives the same report and costs nothing. */
export const research = workflow("research", {
  run: handler({ input: ResearchRequest }, async (ctx, request): Promise<Report> => {
    const { question, corpus, rounds } = request;
    show(ctx, { stage: "planning" });
    const headings = await ctx.step("survey", desk.survey(question, corpus), TOOL);
    const planned = await ctx.step("plan", desk.plan(question, headings, request.topics), MODEL);
    const topics = request.approval === "auto" ? planned.answer.topics : await approved(ctx, planned.answer.topics);

    let finished = 0;
    show(ctx, { stage: "researching", topics, finished });
    const notes = await Promise.all(
      topics.map(async (topic) => {
        const found = await ctx.call(researcher).study({ question, topic, rounds, corpus });
        finished += 1;
        show(ctx, { stage: "researching", topics, finished });
        return found;
      }),
    );

    show(ctx, { stage: "writing", topics });
    const usage = sumUsage([usageOf(planned), ...notes.map((note) => note.usage)]);
    const report = await ctx.call(writer).write({ id: ctx.key, question, notes, usage });
    show(ctx, { stage: "done", topics });
    return report;
  }),

  /** How far it is; free to ask at any time. */
  progress: shared(async (ctx): Promise<Progress | null> => (await ctx.get<Progress>("progress")) ?? null),

  /** Answers the plan, for those who know the research but not its awakeable. */
  decide: shared({ input: Decision }, async (ctx, decision) => {
    const { approval } = (await ctx.get<Progress>("progress")) ?? {};
    if (approval === undefined) throw new TerminalError("no plan waits for a decision", { status: 409 });
    ctx.resolve(approval, decision);
  }),
});

/** One topic: search, read, note what the passages say, and once more for what that left open. */
export const researcher = service("researcher", {
  async study(ctx, { question, topic, rounds, corpus }: Assignment): Promise<Notes> {
    let notes = emptyNotes(topic.title);
    let queries: readonly string[] = topic.queries;
    for (let round = 1; round <= rounds && queries.length > 0; round += 1) {
      const searches = await Promise.all(
        queries.map((query) => ctx.step(`search: ${query}`, desk.search(query, corpus), TOOL)),
      );
      const ids = unread(notes, searches);
      if (ids.length === 0) break;
      const passages = await ctx.step(`read ${ids.length} passages`, desk.read(ids, corpus), TOOL);
      const thought = await ctx.step("note findings", desk.findings(question, topic.title, passages), MODEL);
      notes = withFindings(notes, passages, thought);
      queries = thought.answer.openQueries.slice(0, 2);
      ctx.log.info(`round ${round}: ${notes.findings.length} findings in ${notes.read.length} passages`);
    }
    return notes;
  },
});

/** All findings: one report, in which every claim cites its sources. */
export const writer = service("writer", {
  async write(ctx, { id, question, notes, usage }: Order): Promise<Report> {
    const sources = sourcesOf(notes);
    const found = numberedFindings(notes, sources);
    const thought = found.length > 0 ? await ctx.step("write", desk.write(question, found), MODEL) : undefined;
    const paid = sumUsage([usage, thought === undefined ? NO_USAGE : usageOf(thought)]);
    const markdown = renderReport(thought?.answer ?? emptyReport(question), question, sources, paid);
    const file = await ctx.step("save", desk.save(id, markdown), TOOL);
    return { question, markdown, sources, usage: paid, file };
  },
});

/** Waits, for weeks if need be, until a person has approved the topics or written others. */
async function approved(ctx: WorkflowContext, topics: readonly Topic[]): Promise<readonly Topic[]> {
  for (;;) {
    const approval = ctx.awakeable();
    show(ctx, { stage: "waiting for approval", topics, approval: approval.id });
    ctx.log.info(`approve the plan: npx perdure resolve ${approval.id} '{"decision":"approve"}'`);
    const { data, error } = Decision.safeParse((await approval.promise) ?? { decision: "approve" });
    if (data?.decision === "approve") return topics;
    if (data?.decision === "edit") return data.topics;
    if (data?.decision === "reject") throw new TerminalError(`the plan was rejected: ${data.reason}`, { status: 409 });
    ctx.log.warn(`that was no decision, asking again: ${error?.message}`);
  }
}

function show(ctx: WorkflowContext, progress: Progress): void {
  ctx.set("progress", progress);
  ctx.log.info(
    progress.finished === undefined ? progress.stage : `${progress.stage}: ${progress.finished} topics done`,
  );
}
