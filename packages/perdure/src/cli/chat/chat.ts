// A chat: what is typed goes to the agent, what happens to it is shown
// ====================================================================
//   opening ─▶ talking ─▶ over        over: the person quits, or their input has ended and all they said is answered
//
// C1. The agent does not depend on a chat: leaving one stops nothing.
// C2. What was sent is durable once it is accepted (✓), and known to the agent once it is seen (✓✓).
// C3. Ctrl-C stops the turn that works, keeping what it has said; a second one, with nothing typed in between, leaves.

import type { AgentEvent } from "@perdure/agents";
import type { JsonValue, RunId } from "@perdure/protocol";
import { errorText } from "../error-report.ts";
import { explain, InterruptedError } from "../errors.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { Output } from "../output.ts";
import type { AgentSession } from "./agent-session.ts";
import { ApprovalDesk, toolQuestion, type Question } from "./approval-desk.ts";
import type { AdminClient } from "../api/admin-client.ts";
import { EventView } from "./event-view.ts";
import { Follower, type FollowedEvent } from "./follower.ts";
import { budgetLines, historyLines, questionLines, statusLines } from "./looks.ts";
import type { Screen } from "./screen.ts";
import { CHAT_HELP, readJson, readTypedLine, type ChatCommand, type TypedLine } from "./typed-line.ts";

export interface ChatOptions {
  readonly session: AgentSession;
  readonly admin: AdminClient;
  readonly screen: Screen;
  readonly out: Output;
  /** Who answers what is asked. */
  readonly as: string;
  /** The runtime does not answer; and answers again. */
  onAway(): void;
  onBack(): void;
  /** What the typing person is asked for now. */
  onAsk(question: string | undefined): void;
  /** Lets the person change a text; undefined: they did not, or will type it. */
  edit(text: string): Promise<string | undefined>;
}

const HISTORY_ITEMS = 10;
const ASK = "approve? y/n/e";

export class Chat {
  readonly #options: ChatOptions;
  readonly #follower: Follower;
  readonly #desk: ApprovalDesk;
  readonly #views: Map<string, EventView> = new Map();
  /** Messages from here, with how they end. */
  readonly #sent: Map<string, Promise<boolean>> = new Map();
  readonly #over: PromiseWithResolvers<ExitCode> = Promise.withResolvers<ExitCode>();
  /** What is typed is carried out in that order. */
  #acting: Promise<void> = Promise.resolve();
  #working = false;
  #interruptions = 0;

  constructor(options: ChatOptions) {
    this.#options = options;
    const { session, admin, screen, out } = options;
    this.#desk = new ApprovalDesk({
      session,
      admin,
      onAsked: (question) => this.#asked(question),
      onTurn: (question) => options.onAsk(question === undefined ? undefined : ASK),
    });
    this.#follower = new Follower({
      connection: { ...admin.connection, url: session.url },
      session,
      onEvent: (event) => this.#event(event),
      onGap: () => screen.line(out.paint("yellow", "! some of what happened is not kept any more: /history has it")),
      onLost: options.onAway,
      onBack: options.onBack,
      onFailure: (error) => this.#over.reject(error),
    });
  }

  /** Connected: what happens from now on is shown, and what the turn under way has said so far. */
  async open(): Promise<void> {
    const { session, screen, out } = this.#options;
    const { state, turn, items } = await session.status();
    this.#working = state === "working";
    await this.#follower.begin(session.name, this.#working && turn !== null ? { turn } : "now");
    void this.#desk.watch();
    const { agent, session: key } = session.name;
    if (out.json) return;
    const said = items === 0 ? "a new session" : this.#working ? "at work" : `${items} items so far: /history`;
    screen.line(out.paint("dim", `${agent}/${key}: ${said}. /help lists what you can do.`));
  }

  /** How the chat ended. */
  get over(): Promise<ExitCode> {
    return this.#over.promise;
  }

  close(): void {
    this.#desk.close();
    this.#follower.close();
  }

  // What is typed
  // -------------

  typed(line: string): void {
    this.#interruptions = 0;
    this.#acting = this.#acting.then(() => this.#act(readTypedLine(line, this.#desk.current !== undefined)));
  }

  /** Input has ended: the chat is over when all that was said is answered. */
  ended(): void {
    this.#acting = this.#acting.then(async () => {
      try {
        const ends = await Promise.all(this.#sent.values());
        await this.#follower.caughtUp();
        this.#over.resolve(ends.every((succeeded) => succeeded) ? EXIT.ok : EXIT.failed);
      } catch (error) {
        this.#over.reject(error);
      }
    });
  }

  quit(): void {
    this.#over.resolve(EXIT.ok);
  }

  /** C3 */
  interrupted(): void {
    this.#interruptions += 1;
    if (this.#interruptions > 1) return this.quit();
    if (this.#working) this.#acting = this.#acting.then(() => this.#command("stop", ""));
    else this.#note("once more, or /quit, to leave; the agent goes on without you");
  }

  async #act(typed: TypedLine): Promise<void> {
    try {
      switch (typed.kind) {
        case "nothing":
          return;
        case "message":
          return await this.#send(typed);
        case "command":
          return await this.#command(typed.name, typed.argument);
        case "answer":
          return await this.#answer({
            decision: typed.decision,
            ...(typed.comment === undefined ? {} : { comment: typed.comment }),
          });
        case "edit":
          return await this.#edit(typed);
        case "wrong":
          return this.#note(typed.why);
      }
    } catch (error) {
      this.#report(error);
    }
  }

  async #send({ text, policy }: Extract<TypedLine, { kind: "message" }>): Promise<void> {
    const { session, out, screen } = this.#options;
    const run = await session.send(text, policy);
    this.#sent.set(run, this.#endOf(run));
    if (out.json) out.line({ type: "accepted", run, text });
    else screen.line(out.paint("green", "✓ accepted"));
  }

  /** Whether the message was answered. */
  async #endOf(run: RunId): Promise<boolean> {
    try {
      return (await this.#options.session.outcome(run)).kind !== "failure";
    } catch (error) {
      if (!(error instanceof InterruptedError)) this.#report(error);
      return false;
    }
  }

  async #command(name: ChatCommand, argument: string): Promise<void> {
    const { session, admin, out } = this.#options;
    switch (name) {
      case "stop": {
        const { stopped } = await session.stop();
        return this.#note(stopped ? "it stops here, and keeps what there is" : "there is nothing to stop: it is idle");
      }
      case "status":
        return this.#lines(statusLines(await session.status(), this.#desk.size));
      case "history": {
        const last = /^\d+$/.test(argument) ? Number(argument) : HISTORY_ITEMS;
        return this.#lines(historyLines(await session.history(last), out.paint, out.width));
      }
      case "budget":
        return this.#lines(budgetLines(await admin.budget(`${session.name.agent}/${session.name.session}`)));
      case "help":
        return this.#lines(CHAT_HELP.split("\n"));
      case "quit":
        return this.quit();
    }
  }

  // What is asked
  // -------------

  #asked(question: Question): void {
    const { out } = this.#options;
    if (out.json) out.line({ type: "asked", ...question });
    else this.#lines(questionLines(question, out.paint));
  }

  async #answer(answer: Pick<DeskAnswer, "decision" | "comment" | "input">): Promise<void> {
    const question = this.#desk.current;
    if (question === undefined) return this.#note("nothing waits for an answer any more");
    const { session, as } = this.#options;
    try {
      await session.decide(question.id, { ...answer, by: as });
      this.#desk.closed(question.id);
    } catch (error) {
      if (explain(error).status === 409) this.#desk.closed(question.id); // Somebody else was first.
      throw error;
    }
  }

  async #edit(typed: Extract<TypedLine, { kind: "edit" }>): Promise<void> {
    if ("input" in typed) return this.#answer({ decision: "approved", input: typed.input });
    const question = this.#desk.current;
    if (question === undefined) return this.#note("nothing waits for an answer any more");
    const before = JSON.stringify(question.input, null, 2);
    const text = await this.#options.edit(before);
    if (text === undefined) return;
    const read = readJson(text);
    if (read === undefined) return this.#note("that is no JSON, so nothing is answered: e edits again");
    const isSame = JSON.stringify(read.value) === JSON.stringify(question.input);
    await this.#answer({ decision: "approved", ...(isSame ? {} : { input: read.value }) });
  }

  // What happens
  // ------------

  #event(followed: FollowedEvent): void {
    const { event, child, source, ...place } = followed;
    const { out } = this.#options;
    if (child === undefined) this.#noteWork(event);
    if (event.type === "approval-asked") {
      const { approval: id, tool, input } = event;
      this.#desk.asked({ id, title: toolQuestion(source.agent, tool), input });
    } else if (event.type === "approval-answered") this.#desk.closed(event.approval);
    if (out.json) out.line({ ...source, ...place, item: event as unknown as JsonValue });
    else this.#viewOf(child).show(event);
  }

  #noteWork(event: AgentEvent): void {
    if (event.type === "turn-start") this.#working = true;
    if (event.type === "turn-end") this.#working = false;
  }

  #viewOf(child: string | undefined): EventView {
    const { screen, out } = this.#options;
    const name = child ?? "";
    const known = this.#views.get(name);
    if (known !== undefined) return known;
    const view = new EventView(screen, {
      paint: out.paint,
      width: out.width,
      isOwn: (run) => this.#sent.has(run),
      ...(child === undefined ? {} : { child }),
    });
    this.#views.set(name, view);
    return view;
  }

  #report(error: unknown): void {
    if (error instanceof InterruptedError) return;
    const { out, screen } = this.#options;
    if (out.json) out.line({ type: "error", message: explain(error).message });
    else screen.line(errorText(explain(error), out.paint).trimEnd());
  }

  #note(text: string): void {
    const { out, screen } = this.#options;
    if (out.json) out.line({ type: "note", text });
    else screen.line(out.paint("dim", text));
  }

  #lines(lines: readonly string[]): void {
    const { out, screen } = this.#options;
    if (out.json) out.line({ type: "note", text: lines.join("\n") });
    else for (const line of lines) screen.line(line);
  }
}

interface DeskAnswer {
  readonly decision: "approved" | "rejected";
  readonly comment?: string;
  readonly input?: unknown;
}
