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

import type { LanguageModelV4CallOptions, LanguageModelV4ToolCall } from "@ai-sdk/provider";
import { ContextLengthError } from "@perdure/protocol";
import { CancelledError, isPerdureError, type ObjectContext, type RunId } from "@perdure/sdk";
import { budgets as budgetObject } from "../budget/budgets.ts";
import { modelName } from "../models/resolver.ts";
import type { ModelAnswer } from "../models/types.ts";
import type { AnyTool, Toolset } from "../tools/tool.ts";
import { cancelChildren, childTools, type ChildStart } from "./children.ts";
import { compactionOf, requestTokens } from "./compaction.ts";
import { contextStart, promptOf, textOf } from "./conversation.ts";
import type { AgentSpec, TurnSoFar } from "./definition.ts";
import { EVENTS, type AgentEvent } from "./events.ts";
import { leftOf } from "./fork-changes.ts";
import { Inbox, type Arrival } from "./inbox.ts";
import { addUsage, NO_USAGE, type AgentAnswer, type AgentMessage, type Usage } from "./messages.ts";
import { assistantItem, callModel } from "./model-call.ts";
import { readResult } from "./read-result.ts";
import { prepareTools, type PreparedTools } from "./prepared-tools.ts";
import {
  CHILDREN_KEPT_MAX,
  MARKS_KEPT,
  TURNS_PER_MARK,
  writeSession,
  type Session,
  type Taken,
} from "./session-state.ts";
import { readOutput, responseFormat } from "./structured-output.ts";
import { runToolCalls } from "./tool-calls.ts";
import { askSources } from "./tool-sources.ts";
import { TRANSCRIPT, type AssistantItem, type MessageItem, type TranscriptItem } from "./transcript.ts";

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
  /** Those of them that a restart has called off. */
  readonly #calledOff: Set<Arrival> = new Set();

  constructor(ctx: ObjectContext, spec: AgentSpec, message: AgentMessage, session: Session) {
    this.#ctx = ctx;
    this.#spec = spec;
    this.#message = message;
    this.#session = { ...session, turn: ctx.runId, ...(spec.options.budget === undefined ? {} : { budget: true }) };
    const seen = Object.keys(session.taken) as RunId[];
    this.#inbox = new Inbox(ctx, message.text, spec.options.onArrival, seen);
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
    } finally {
      this.#inbox.end();
    }
  }

  // The beginning
  // -------------

  async #begin(seen: boolean): Promise<void> {
    const ctx = this.#ctx;
    const events = ctx.stream<AgentEvent>(EVENTS);
    const turns = this.#session.turns + 1;
    const marks = turns % TURNS_PER_MARK === 1;
    const [items, eventsAt, queued] = await Promise.all([
      ctx.stream<TranscriptItem>(TRANSCRIPT).read(this.#session.contextFrom),
      marks ? events.length() : undefined,
      this.#inbox.open(),
    ]);
    this.#items = items;
    this.#first = this.#session.contextFrom;
    this.#from = this.#next;
    const taken = queued === undefined ? this.#session.taken : onlyQueued(this.#session.taken, queued);
    this.#session = { ...this.#session, turns, taken };
    if (eventsAt !== undefined) this.#trimEvents(eventsAt);
    this.#openBudget();
    const collected = this.#message.policy === "collect" ? await this.#inbox.takeCollected() : [];
    const own = { run: ctx.runId, message: this.#message, policy: this.#message.policy ?? "steer" } as const;
    this.#see(seen ? [] : [own], { type: "turn-start", turn: ctx.runId });
    this.#take(collected);
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

  /** Keeps the events of the last turns: what was said before is in the transcript. */
  #trimEvents(at: number): void {
    const [oldest, ...newer] = [...this.#session.marks, at];
    const isFull = newer.length >= MARKS_KEPT;
    if (isFull && oldest !== undefined) this.#ctx.stream(EVENTS).trim(newer[0] ?? oldest);
    this.#session = { ...this.#session, marks: isFull ? newer : [...this.#session.marks, at] };
  }

  /** At every turn: it takes changed limits over, keeps what was spent, and ends a denial, so that it can ask anew. */
  #openBudget(): void {
    const { budget } = this.#spec.options;
    if (budget === undefined) return;
    void this.#ctx.send(budgetObject, `${this.#spec.name}/${this.#ctx.key}`).open(budget);
  }

  // The work
  // --------

  async #work(): Promise<AgentAnswer["reason"]> {
    const { options, maxSteps } = this.#spec;
    for (;;) {
      if (this.#inbox.stopAsked) return "stopped";
      if (this.#inbox.restart !== undefined) await this.#restart();
      await this.#takeArrivals();
      this.#takeChanges();
      if (this.#steps >= maxSteps || options.stopWhen?.(this.#soFar()) === true) return "steps";
      const tools = await this.#tools(); // A long result, or a sub-agent in the background, brings tools along.
      const item = await this.#ask(tools);
      if (item === undefined) continue; // Cut short before it was begun: the loop looks why.
      this.#steps += 1;
      this.#items.push(item);
      this.#usage = addUsage(this.#usage, item.usage);
      await options.onTurn?.(this.#ctx, this.#soFar());
      const calls = item.partial === true ? [] : item.content.filter(isOwnCall);
      if (calls.length > 0) await this.#runTools(calls, tools);
      else if (item.partial !== true && (await this.#isAnswer(item)) && (await this.#inbox.close())) return "answered";
    }
  }

  /** Undefined where the loop has to look again: it was cut short before it was begun, or the request was too long. */
  async #ask(tools: PreparedTools): Promise<AssistantItem | undefined> {
    const interrupt = this.#inbox.beginPhase();
    if (interrupt.aborted) return undefined;
    let options = await this.#options(tools);
    if (
      requestTokens(options) > this.#spec.contextMaxTokens &&
      (await this.#compact(interrupt, this.#spec.contextKeepTokens))
    )
      options = await this.#options(tools);
    const call = `c${this.#next}`;
    try {
      const name = `model ${modelName(this.#spec.models[0] ?? "")}`;
      return await this.#call(name, call, options, interrupt, (answer, usage) => assistantItem(call, answer, usage));
    } catch (error) {
      // The model takes less than the agent's limit says: what is told to it is halved, as often as that helps.
      const isTooLong = isPerdureError(error) && error.code === ContextLengthError.code;
      const keepTokens = Math.floor(requestTokens(options) / 2);
      if (isTooLong && (await this.#compact(interrupt, keepTokens))) return undefined;
      throw error;
    }
  }

  async #call<Item extends { readonly usage: Usage }>(
    name: string,
    call: string,
    options: Omit<LanguageModelV4CallOptions, "abortSignal">,
    interrupt: AbortSignal,
    item: (answer: ModelAnswer, usage: Usage) => Item,
    unseen = false,
  ): Promise<Item | undefined> {
    return await callModel(this.#ctx, {
      spec: this.#spec,
      call,
      name,
      item,
      options,
      interrupt,
      unseen,
      budgets: this.#budgets,
      softPassed: (budgets) => this.#emit({ type: "budget-soft", budgets }),
    });
  }

  /** False where there is nothing old enough to be told in short. */
  async #compact(interrupt: AbortSignal, keepTokens: number): Promise<boolean> {
    const compaction = compactionOf(this.#spec, this.#items, this.#first, keepTokens);
    if (compaction === undefined) return false;
    const item = await this.#call("compaction", `c${this.#next}`, compaction.options, interrupt, compaction.item, true);
    if (item === undefined) return false;
    this.#items.push(item);
    this.#usage = addUsage(this.#usage, item.usage);
    this.#session = { ...this.#session, contextFrom: item.upTo };
    this.#emit({ type: "compaction", upTo: item.upTo });
    this.#save();
    return true;
  }

  async #options(tools: PreparedTools): Promise<Omit<LanguageModelV4CallOptions, "abortSignal">> {
    const { resultCharsMax, options } = this.#spec;
    const instructions = this.#session.changes?.instructions ?? this.#spec.instructions;
    const { maxOutputTokens, temperature, providerOptions, output } = options;
    const format = output === undefined ? undefined : await responseFormat(output);
    return {
      prompt: promptOf(this.#items, this.#first, { instructions, resultCharsMax }),
      ...(tools.functions.length === 0 ? {} : { tools: [...tools.functions] }),
      ...(format === undefined ? {} : { responseFormat: format }),
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
    return await prepareTools({ ...more, ...leftOf({ ...this.#offered, ...tools }, this.#session.changes) });
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
    const children = [...this.#session.children.filter(({ run }) => run !== child.run), child].slice(
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
    this.#take(arrivals);
    if (arrivals.length > 0) this.#save();
  }

  /** A fork was given other instructions or tools. */
  #takeChanges(): void {
    const { changes } = this.#inbox;
    if (changes === undefined) return;
    this.#inbox.changes = undefined;
    this.#session = { ...this.#session, changes };
    this.#save();
  }

  #take(arrivals: readonly Arrival[]): void {
    const taken: Record<RunId, Taken> = { ...this.#session.taken };
    for (const arrival of arrivals) {
      this.#taken.add(arrival);
      taken[arrival.run] = { turn: this.#ctx.runId };
    }
    this.#session = { ...this.#session, taken };
    this.#see(arrivals);
  }

  /** Puts messages into the transcript, and tells watchers, in one entry each. */
  #see(arrivals: readonly Arrival[], ...first: readonly AgentEvent[]): void {
    const items = arrivals.map(messageItem);
    this.#record(...items);
    this.#emit(...first, ...items);
  }

  /** What was under way is called off with all sub-agents; the message begins anew. */
  async #restart(): Promise<void> {
    const arrival = await this.#inbox.takeRestart();
    if (arrival === undefined) return;
    this.#restarted = true;
    this.#take(await this.#inbox.takeCalledOff());
    for (const earlier of this.#taken) this.#calledOff.add(earlier);
    cancelChildren(this.#ctx, this.#session.children);
    this.#record({ type: "restart", from: this.#from });
    this.#session = { ...this.#session, contextFrom: contextStart(this.#items, this.#first) };
    this.#emit({ type: "restart" });
    this.#from = this.#next;
    this.#steps = 0;
    this.#take([arrival]);
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
    return this.#restarted ? calledOff(answer) : answer;
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
    for (const arrival of this.#taken) {
      const own = "answer" in end && this.#calledOff.has(arrival) ? { answer: calledOff(end.answer) } : end;
      taken[arrival.run] = { turn: this.#ctx.runId, end: own };
    }
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

  #record(...items: readonly TranscriptItem[]): void {
    if (items.length === 0) return;
    this.#items.push(...items);
    this.#ctx.stream<TranscriptItem>(TRANSCRIPT).append(...items);
  }

  #emit(...events: readonly AgentEvent[]): void {
    if (events.length > 0) this.#ctx.stream<AgentEvent>(EVENTS).append(...events);
  }

  #save(): void {
    writeSession(this.#ctx, this.#session);
  }
}

/** A message that was withdrawn after it was taken has left the queue: no run of it will come to ask. */
function onlyQueued(taken: Session["taken"], queued: ReadonlySet<RunId>): Session["taken"] {
  return Object.fromEntries(Object.entries(taken).filter(([run]) => queued.has(run as RunId)));
}

function messageItem({ run, message, policy }: Arrival): MessageItem {
  const { text, from, notice, data } = message;
  return {
    type: "message",
    id: run,
    text,
    policy,
    ...(from === undefined ? {} : { from }),
    ...(notice === undefined ? {} : { notice }),
    ...(data === undefined ? {} : { data }),
  };
}

/** What whoever asked before a restart is told. */
function calledOff(answer: AgentAnswer): AgentAnswer {
  return { text: "", reason: "restarted", usage: answer.usage, turn: answer.turn };
}

function contentText({ content }: AssistantItem): string {
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
}

function isOwnCall(part: AssistantItem["content"][number]): part is LanguageModelV4ToolCall {
  return part.type === "tool-call" && part.providerExecuted !== true;
}
