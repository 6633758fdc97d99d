// Programs as handlers of the SDK: real async functions, with promises and their combinators.

import { type Context, object, service, shared, type StepInfo, workflow, type WorkflowContext } from "@perdure/sdk";
import {
  CancelledError,
  type Failure,
  isPerdureError,
  type Result,
  type RunId,
  type Target,
  TerminalError,
} from "@perdure/protocol";
import { targetOf } from "../catalogue.ts";
import type { EffectOutcome } from "../effects.ts";
import {
  type Callee,
  type Node,
  type Program,
  type ProgramInput,
  type SendNode,
  type StepNode,
  STREAM,
  type StreamNode,
} from "../program.ts";
import { hashText } from "../random.ts";

export interface HandlerPorts {
  programOf(ctx: Context, number: number): Program | undefined | Promise<Program | undefined>;
  idempotentId(target: Target, idempotencyKey: string): RunId;
  workflowId(service: string, key: string): RunId;
  /** Does the effect of the step whose closure is running. */
  execute(run: RunId, node: StepNode, info: StepInfo): Promise<EffectOutcome>;
  /** The code of a run saw something: the `count`-th thing, after which its digest is `digest`. */
  saw(ctx: Context, run: RunId, count: number, digest: number): void;
  /** The run whose handler is being begun: its code may not know yet that it is a fork. */
  itself(ctx: Context): RunId;
  /** Is the code to throw here? */
  fails(): boolean;
}

type Definitions = readonly [ReturnType<typeof service>, ReturnType<typeof object>, ReturnType<typeof workflow>];

export function defineHandlers(ports: HandlerPorts): Definitions {
  const handler =
    (rights: Rights) =>
    (ctx: Context, input: ProgramInput): Promise<unknown> =>
      new Performance(ports, ctx as WorkflowContext, rights).run(input);
  return [
    service("svc", { run: handler({ reads: false, writes: false, promises: false, shared: false }) }),
    object("obj", {
      run: handler({ reads: true, writes: true, promises: false, shared: false }),
      peek: shared(handler({ reads: true, writes: false, promises: false, shared: true })),
    }),
    workflow("wf", {
      run: handler({ reads: true, writes: true, promises: true, shared: false }),
      poke: shared(handler({ reads: true, writes: false, promises: true, shared: true })),
    }),
  ] as unknown as Definitions;
}

/** What handlers of a kind may do; what they may not is left out of the program. */
interface Rights {
  readonly reads: boolean;
  readonly writes: boolean;
  readonly promises: boolean;
  readonly shared: boolean;
}

/** One execution of a program. */
class Performance {
  readonly #ports: HandlerPorts;
  readonly #ctx: WorkflowContext;
  readonly #run: RunId;
  #digest = 0;
  #count = 0;
  readonly #rights: Rights;

  constructor(ports: HandlerPorts, ctx: WorkflowContext, rights: Rights) {
    this.#rights = rights;
    this.#ports = ports;
    this.#run = ports.itself(ctx);
    this.#ctx = ctx;
  }

  async run(input: ProgramInput): Promise<unknown> {
    const ctx = this.#ctx;
    if (input.promise !== undefined) await ctx.promise(input.promise).resolve("poked");
    const found = this.#ports.programOf(ctx, input.program);
    const node = (found instanceof Promise ? await found : found)?.node;
    // Failures of the handler itself come between its statements: within parallel branches they would be lost.
    for (const item of node?.op === "seq" ? node.nodes : []) {
      if (this.#ports.fails()) throw new Error("the handler failed");
      await this.#perform(item);
    }
    if (input.answer !== undefined) ctx.resolve(input.answer, "answered");
    return { program: input.program, seen: this.#digest };
  }

  #saw(what: string, value: unknown): void {
    this.#digest = hashText(`${what} ${JSON.stringify(value) ?? ""}`, this.#digest);
    this.#count += 1;
    this.#ports.saw(this.#ctx, this.#run, this.#count, this.#digest);
  }

  /** Waits, and notes what came. */
  async #see<T>(what: string, promise: Promise<T>): Promise<T> {
    try {
      const value = await promise;
      this.#saw(what, value);
      return value;
    } catch (error) {
      if (isPerdureError(error)) this.#saw(what, error.toFailure() satisfies Failure);
      throw error;
    }
  }

  async #perform(node: Node): Promise<unknown> {
    const ctx = this.#ctx;
    switch (node.op) {
      case "step":
        return this.#see("step", this.#step(node));
      case "sleep":
        return this.#see("sleep", ctx.sleep(node.ms));
      case "call":
        return this.#see("call", this.#target("call", node.to)({ program: node.to.program }));
      case "send":
        return this.#send(node);
      case "get":
      case "keys":
      case "set":
      case "clear":
      case "clearAll":
        return this.#rights.reads ? this.#state(node) : undefined;
      case "signal":
        return this.#see("signal", ctx.signal(node.name));
      case "handshake":
        return this.#handshake(node.to);
      case "promise":
        return this.#rights.promises ? this.#promise(node.verb, node.name) : undefined;
      case "stream":
        return this.#stream(node);
      case "attach":
        return this.#see("attach", ctx.run(this.#idOf(node.to)).result());
      case "output":
        return this.#see("output", ctx.run(this.#idOf(node.to)).output());
      default:
        return this.#compound(node);
    }
  }

  async #compound(node: Extract<Node, { op: "seq" | "all" | "race" | "try" | "fail" }>): Promise<unknown> {
    switch (node.op) {
      case "seq":
        for (const item of node.nodes) await this.#perform(item);
        return undefined;
      case "all":
      case "race": {
        const branches = node.nodes.map((item) => this.#perform(item));
        for (const branch of branches) branch.catch(() => undefined); // The losers of a race may fail, too.
        return node.op === "all" ? Promise.all(branches) : Promise.race(branches);
      }
      case "try":
        try {
          return await this.#perform(node.node);
        } catch (error) {
          if (!isPerdureError(error)) throw error;
          await this.#perform(node.rescue);
          if (error instanceof CancelledError) throw error;
          return undefined;
        }
      case "fail":
        throw new TerminalError("the program fails");
    }
  }

  #step(node: StepNode): Promise<unknown> {
    const retry =
      node.exhausted === "never"
        ? { initial: 20, max: 400 }
        : { initial: 20, max: 400, maxAttempts: 2, onExhausted: node.exhausted };
    const options = {
      retry,
      ...(node.atMostOnce ? { atMostOnce: true } : {}),
      ...(node.into ? { into: STREAM } : {}),
    };
    return this.#ctx.step(
      node.name,
      async (info) => {
        const { stream } = info;
        for (let i = 0; i < node.writes - 1; i += 1) stream(STREAM).write(`early ${i}`);
        const outcome = await this.#ports.execute(this.#ctx.runId, node, info);
        if (node.writes > 0) stream(STREAM).write("late");
        return resultOf(node, outcome);
      },
      options,
    );
  }

  #target(how: "call" | "send", to: Callee, options: object = {}): (input: ProgramInput) => Promise<never> {
    const target = targetOf(to);
    const all = { ...options, ...(to.idempotencyKey === null ? {} : { idempotencyKey: to.idempotencyKey }) };
    const ctx = this.#ctx;
    const handlers =
      target.key === undefined ? ctx[how](target.service, all) : ctx[how](target.service, target.key, all);
    return (input) => handlers[target.handler](input) as Promise<never>;
  }

  async #send(node: SendNode): Promise<void> {
    const options = node.delayMs === 0 ? {} : { delay: node.delayMs };
    const sent: Promise<ReturnType<WorkflowContext["run"]>> = this.#target(
      "send",
      node.to,
      options,
    )({ program: node.to.program });
    if (node.then === "nothing") return;
    const handle = await sent;
    if (node.then === "cancel") handle.cancel();
    else handle.signal("s0", `from ${this.#ctx.runId} ${this.#digest}`);
  }

  async #state(node: Extract<Node, { op: "get" | "keys" | "set" | "clear" | "clearAll" }>): Promise<void> {
    const ctx = this.#ctx;
    if (node.op === "get") await this.#see("get", ctx.get(node.name));
    else if (node.op === "keys") await this.#see("keys", ctx.keys());
    else if (!this.#rights.writes) return;
    else if (node.op === "set") ctx.set(node.name, `${ctx.runId.slice(-6)} ${this.#digest}`);
    else if (node.op === "clear") ctx.clear(node.name);
    else ctx.clearAll();
  }

  async #stream({ verb, number }: StreamNode): Promise<void> {
    const stream = this.#ctx.stream<string>(STREAM);
    if (verb === "append")
      stream.append(...Array.from({ length: number }, (_, i) => `${this.#ctx.runId.slice(-6)} ${this.#digest} ${i}`));
    else if (verb === "read") await this.#see("read", stream.read(number - 1));
    else {
      const length = await this.#see("length", stream.length());
      if (verb === "trim" && !this.#rights.shared) stream.trim(Math.floor(length / 2));
    }
  }

  async #handshake(to: Callee): Promise<unknown> {
    const { id, promise } = this.#ctx.awakeable();
    void this.#target("send", to)({ program: to.program, answer: id });
    return this.#see("awakeable", promise);
  }

  async #promise(verb: "get" | "peek" | "complete", name: string): Promise<unknown> {
    const promise = this.#ctx.promise(name);
    if (verb === "get") return this.#see("promise", promise.get());
    if (verb === "peek") return this.#see("peek", promise.peek());
    try {
      return await this.#see("keep", promise.resolve("kept"));
    } catch (error) {
      if (isPerdureError(error) && !(error instanceof CancelledError)) return undefined; // Somebody else was first.
      throw error;
    }
  }

  #idOf(to: Callee): RunId {
    if (to.kind === "workflow" && to.key !== null) return this.#ports.workflowId("wf", to.key);
    return this.#ports.idempotentId(targetOf(to), to.idempotencyKey ?? "");
  }
}

function resultOf(node: StepNode, outcome: EffectOutcome): unknown {
  if (outcome.kind === "failed") throw new Error(`${node.name} failed`);
  const { result } = outcome as { readonly result: Result };
  if (result.kind === "failure") throw new TerminalError(result.failure.message);
  return result.kind === "value" ? JSON.parse(String(result.value)) : undefined;
}
