// A turn: the agent works until it has an answer
// ==============================================
//
//   begin ─▶ take what arrived ─▶ model ─▶ tools ─┐        ends: answered, stopped by a person, too many steps
//                 ▲─────────────────┴─────────────┘
//
// T1. All that was said and done is in the transcript, each item once, in the order in which the model is told of it.
// T2. A message that was taken has an end when the turn has one: the answer, or why there is none. Where a turn never comes
//     to an end (it was killed), the message's own run goes on from what the transcript has.
// T3. What the turn does follows from its journal alone: no clock, no chance, nothing of the outside beside `ctx`.

import type { JSONSchema7, LanguageModelV4CallOptions, LanguageModelV4ToolCall } from "@ai-sdk/provider";
import { CancelledError, isPerdureError, type ObjectContext } from "@perdure/sdk";
import { asSchema } from "ai";
import { budgets as budgetObject } from "../budget/budgets.ts";
import { modelName } from "../models/resolver.ts";
import type { AnyTool, Toolset } from "../tools/tool.ts";
import { cancelChildren, childTools, type ChildStart } from "./children.ts";
import { compactionOf, requestTokens } from "./compaction.ts";
import { promptOf, textOf } from "./conversation.ts";
import type { AgentSpec, TurnSoFar } from "./definition.ts";
import { EVENTS, type AgentEvent } from "./events.ts";
import { Inbox, type Arrival } from "./inbox.ts";
import { addUsage, NO_USAGE, type AgentAnswer, type AgentMessage, type Usage } from "./messages.ts";
import { assistantItem, callModel } from "./model-call.ts";
import { readResult } from "./read-result.ts";
import { prepareTools, type PreparedTools } from "./prepared-tools.ts";
import { CHILDREN_KEPT_MAX, TURNS_KEPT, writeSession, type Session, type Taken } from "./session-state.ts";
import { runToolCalls } from "./tool-calls.ts";
import { askSources } from "./tool-sources.ts";
import { TRANSCRIPT, type AssistantItem, type TranscriptItem } from "./transcript.ts";

/** How often a model is asked again for an answer of the right form. */
const OUTPUT_TRIES_MAX = 3;

export class Turn {
  readonly #ctx: ObjectContext;
  readonly #spec: AgentSpec;
  readonly #message: AgentMessage;
  readonly #inbox: Inbox;
  readonly #budgets: readonly string[];
  #session: Session;
  /** From `#first` on. */
  #items: TranscriptItem[] = [];
  #first = 0;
  /** Offset at which the work of this turn begins. */
  #from = 0;
  #steps = 0;
  #outputTries = 0;
  #usage: Usage = NO_USAGE;
  #restarted = false;
  /** Of the tool sources: the same throughout the turn. */
  #offered: Toolset = {};
  readonly #taken: Set<Arrival> = new Set();

  constructor(ctx: ObjectContext, spec: AgentSpec, message: AgentMessage, session: Session) {
    this.#ctx = ctx;
    this.#spec = spec;
    this.#message = message;
    this.#session = { ...session, turn: ctx.runId };
    this.#inbox = new Inbox(ctx, message.text, spec.options.onArrival);
    const own = spec.options.budget === undefined ? [] : [`${spec.name}/${ctx.key}`];
    this.#budgets = [...(message.budgets ?? []), ...own];
  }

  /** @param seen the message is in the transcript already: a turn that never ended has taken it. */
  async run(seen: boolean): Promise<AgentAnswer> {
    try {
      await this.#begin(seen);
      const reason = await this.#work();
      return this.#end(await this.#answer(reason));
    } catch (error) {
      this.#failed(error);
      throw error;
    }
  }

  // The beginning
  // -------------

  async #begin(seen: boolean): Promise<void> {
    const ctx = this.#ctx;
    const events = ctx.stream<AgentEvent>(EVENTS);
    const [items, eventsAt, at] = await Promise.all([
      ctx.stream<TranscriptItem>(TRANSCRIPT).read(this.#session.contextFrom),
      events.length(),
      ctx.now(),
      this.#inbox.open(),
    ]);
    this.#items = items;
    this.#first = this.#session.contextFrom;
    this.#from = this.#next;
    const starts = [...this.#session.turnStarts, eventsAt].slice(-TURNS_KEPT);
    const oldest = starts[0] ?? 0;
    if (this.#session.turnStarts.length >= TURNS_KEPT) events.trim(oldest);
    this.#openBudget();
    const collected = this.#message.policy === "collect" ? await this.#inbox.takeCollected() : [];
    this.#session = { ...this.#session, turnStarts: starts };
    this.#emit({ type: "turn-start", turn: ctx.runId, at });
    if (!seen) this.#see({ run: ctx.runId, message: this.#message, policy: this.#message.policy ?? "steer" });
    for (const arrival of collected) this.#take(arrival);
    this.#save();
    await this.#askSources();
  }

  async #askSources(): Promise<void> {
    const { sources } = this.#spec;
    if (sources.length === 0) return;
    const { tools, known } = await askSources(this.#ctx, sources, this.#session.offers ?? {});
    this.#offered = tools;
    this.#session = { ...this.#session, offers: known };
    this.#save();
  }

  #openBudget(): void {
    const { budget } = this.#spec.options;
    if (budget === undefined) return;
    const limits = JSON.stringify(budget);
    if (this.#session.budget === limits) return;
    this.#session = { ...this.#session, budget: limits };
    void this.#ctx.send(budgetObject, `${this.#spec.name}/${this.#ctx.key}`).open(budget);
  }

  // The work
  // --------

  async #work(): Promise<AgentAnswer["reason"]> {
    const { options, maxSteps } = this.#spec;
    const tools = await this.#tools();
    for (;;) {
      if (this.#inbox.stopAsked) return "stopped";
      if (this.#inbox.restart !== undefined) this.#restart(this.#inbox.restart);
      await this.#takeArrivals();
      if (this.#steps >= maxSteps || options.stopWhen?.(this.#soFar()) === true) return "steps";
      const item = await this.#ask(tools);
      if (item === undefined) continue; // Cut short before it was begun: the loop looks why.
      this.#steps += 1;
      this.#items.push(item);
      this.#usage = addUsage(this.#usage, item.usage);
      await options.onTurn?.(this.#ctx, this.#soFar());
      const calls = item.partial === true ? [] : item.content.filter(isOwnCall);
      if (calls.length > 0) await this.#runTools(calls, await this.#tools());
      else if (item.partial !== true && !this.#inbox.waiting && (await this.#isAnswer(item))) return "answered";
    }
  }

  async #ask(tools: PreparedTools): Promise<AssistantItem | undefined> {
    const { spec } = { spec: this.#spec };
    const interrupt = this.#inbox.beginPhase();
    if (interrupt.aborted) return undefined;
    const options = await this.#fitting(tools, interrupt);
    const call = `c${this.#next}`;
    return await callModel(this.#ctx, {
      spec,
      call,
      name: `model ${modelName(spec.models[0] ?? "")}`,
      item: (answer) => assistantItem(call, answer),
      options,
      interrupt,
      budgets: this.#budgets,
      softPassed: (budgets) => this.#emit({ type: "budget-soft", budgets }),
    });
  }

  /** The request, after a compaction where it would be too large. */
  async #fitting(
    tools: PreparedTools,
    interrupt: AbortSignal,
  ): Promise<Omit<LanguageModelV4CallOptions, "abortSignal">> {
    const options = await this.#options(tools);
    if (requestTokens(options) <= this.#spec.contextMaxTokens) return options;
    const compaction = compactionOf(this.#spec, this.#items, this.#first);
    if (compaction === undefined) return options;
    const item = await callModel(this.#ctx, {
      spec: this.#spec,
      call: `c${this.#next}`,
      name: "compaction",
      item: (answer) => compaction.item(answer),
      options: compaction.options,
      interrupt,
      budgets: this.#budgets,
      softPassed: (budgets) => this.#emit({ type: "budget-soft", budgets }),
    });
    if (item === undefined) return options;
    this.#items.push(item);
    this.#usage = addUsage(this.#usage, item.usage);
    this.#session = { ...this.#session, contextFrom: item.upTo };
    this.#emit({ type: "compaction", upTo: item.upTo });
    this.#save();
    return await this.#options(tools);
  }

  async #options(tools: PreparedTools): Promise<Omit<LanguageModelV4CallOptions, "abortSignal">> {
    const { instructions, resultCharsMax, options } = this.#spec;
    const { maxOutputTokens, temperature, providerOptions, output } = options;
    const schema = output === undefined ? undefined : ((await asSchema(output).jsonSchema) as JSONSchema7);
    return {
      prompt: promptOf(this.#items, this.#first, { instructions, resultCharsMax }),
      ...(tools.functions.length === 0 ? {} : { tools: [...tools.functions] }),
      ...(schema === undefined ? {} : { responseFormat: { type: "json" as const, schema, name: "answer" } }),
      ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
      ...(temperature === undefined ? {} : { temperature }),
      ...(providerOptions === undefined ? {} : { providerOptions }),
    };
  }

  // Tools
  // -----

  async #tools(): Promise<PreparedTools> {
    const { tools, resultCharsMax } = this.#spec;
    const hasLong = this.#items.some((item) => item.type === "tool" && textOf(item.output).length > resultCharsMax);
    const more: Record<string, AnyTool> = {};
    if (hasLong) more["read_result"] = readResult(this.#items);
    if (this.#session.children.some((child) => child.background))
      Object.assign(
        more,
        childTools(() => this.#session.children),
      );
    return await prepareTools({ ...more, ...this.#offered, ...tools });
  }

  async #runTools(calls: readonly LanguageModelV4ToolCall[], tools: PreparedTools): Promise<void> {
    await runToolCalls(
      {
        ctx: this.#ctx,
        spec: this.#spec,
        tools,
        budgets: this.#budgets,
        signal: this.#inbox.beginPhase(),
        emit: (event) => this.#emit(event),
        record: (item) => this.#record(item),
        recorded: (item) => void this.#items.push(item),
        child: (child, callId) => this.#childStarted(child, callId),
      },
      calls,
    );
  }

  #childStarted(child: ChildStart, callId: string): void {
    const children = [...this.#session.children.filter(({ key }) => key !== child.key), child].slice(
      -CHILDREN_KEPT_MAX,
    );
    this.#session = { ...this.#session, children };
    const { name, agent, key, run } = child;
    this.#emit({ type: "child", child: name, agent, key, run, callId });
    this.#save();
  }

  // What arrives
  // ------------

  async #takeArrivals(): Promise<void> {
    const arrivals = await this.#inbox.take();
    for (const arrival of arrivals) this.#take(arrival);
    if (arrivals.length > 0) this.#save();
  }

  #take(arrival: Arrival): void {
    this.#taken.add(arrival);
    const taken: Taken = { turn: this.#ctx.runId };
    this.#session = { ...this.#session, taken: { ...this.#session.taken, [arrival.run]: taken } };
    this.#see(arrival);
  }

  #see({ run, message, policy }: Arrival): void {
    const { text, from, notice, data } = message;
    const sender = from === undefined ? {} : { from };
    this.#record({
      type: "message",
      id: run,
      text,
      policy,
      ...sender,
      ...(notice === undefined ? {} : { notice }),
      ...(data === undefined ? {} : { data }),
    });
    this.#emit({ type: "message", id: run, text, policy, ...sender });
  }

  /** What was under way is called off with all sub-agents; the message begins anew. */
  #restart(arrival: Arrival): void {
    this.#inbox.restart = undefined;
    this.#restarted = true;
    cancelChildren(this.#ctx, this.#session.children);
    this.#record({ type: "restart", from: this.#from });
    this.#emit({ type: "restart" });
    this.#from = this.#next;
    this.#steps = 0;
    this.#take(arrival);
    this.#save();
  }

  // The end
  // -------

  /** The answer has the form that was asked for; else the model is told what is wrong with it. */
  async #isAnswer(item: AssistantItem): Promise<boolean> {
    const { output } = this.#spec.options;
    if (output === undefined || this.#outputTries >= OUTPUT_TRIES_MAX) return true;
    this.#outputTries += 1;
    const read = await readOutput(output, contentText(item));
    if (read.ok) return true;
    const { runId } = this.#ctx;
    const text = `Your answer does not have the form that is needed: ${read.problem}. Answer again, with JSON alone.`;
    this.#record({ type: "message", id: runId, text, policy: "steer", from: "the runtime" });
    return false;
  }

  async #answer(reason: AgentAnswer["reason"]): Promise<AgentAnswer> {
    const last = this.#items.findLast((item) => item.type === "assistant");
    const text = last === undefined || this.#next === this.#from ? "" : contentText(last);
    const { output } = this.#spec.options;
    const read = output === undefined || reason !== "answered" ? undefined : await readOutput(output, text);
    return {
      text,
      ...(read?.ok === true ? { output: read.value } : {}),
      reason,
      usage: this.#usage,
      turn: this.#ctx.runId,
    };
  }

  #end(answer: AgentAnswer): AgentAnswer {
    this.#settleTaken({ answer });
    this.#emit({ type: "turn-end", turn: this.#ctx.runId, reason: answer.reason, usage: this.#usage });
    this.#save();
    return this.#restarted ? { ...answer, text: "", reason: "restarted" } : answer;
  }

  /** What is final ends the taken messages as well; anything else is tried again, and then goes on from here. */
  #failed(error: unknown): void {
    if (!isPerdureError(error) || error.retry !== "terminal") return;
    const cancelled = error instanceof CancelledError;
    if (cancelled) cancelChildren(this.#ctx, this.#session.children);
    const { runId } = this.#ctx;
    const reason = cancelled ? "cancelled" : "failed";
    this.#settleTaken({ failure: error.toFailure() });
    this.#emit({ type: "turn-end", turn: runId, reason, usage: this.#usage, error: error.message });
    this.#save();
  }

  #settleTaken(end: NonNullable<Taken["end"]>): void {
    const taken = { ...this.#session.taken };
    for (const { run } of this.#taken) taken[run] = { turn: this.#ctx.runId, end };
    this.#session = { ...this.#session, taken };
  }

  // Bookkeeping
  // -----------

  /** The offset that the transcript's next item gets: nobody else appends while this run has the key. */
  get #next(): number {
    return this.#first + this.#items.length;
  }

  #soFar(): TurnSoFar {
    return { steps: this.#steps, usage: this.#usage, transcript: this.#items };
  }

  #record(item: TranscriptItem): void {
    this.#items.push(item);
    this.#ctx.stream<TranscriptItem>(TRANSCRIPT).append(item);
  }

  #emit(event: AgentEvent): void {
    this.#ctx.stream<AgentEvent>(EVENTS).append(event);
  }

  #save(): void {
    writeSession(this.#ctx, this.#session);
  }
}

type ReadOutput = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

async function readOutput(output: Parameters<typeof asSchema>[0], text: string): Promise<ReadOutput> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, problem: "it is not JSON" };
  }
  const checked = await asSchema(output).validate?.(value);
  if (checked === undefined) return { ok: true, value };
  return checked.success ? { ok: true, value: checked.value } : { ok: false, problem: checked.error.message };
}

function contentText({ content }: AssistantItem): string {
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
}

function isOwnCall(part: AssistantItem["content"][number]): part is LanguageModelV4ToolCall {
  return part.type === "tool-call" && part.providerExecuted !== true;
}
