// Programs as fibers of the replay machine.

import { encodeAwakeableId, type Command, valueResult, VOID } from "@perdure/protocol";
import { targetOf } from "../catalogue.ts";
import { type Callee, encodeInput, type Node, type SendNode, STREAM, type StreamNode } from "../program.ts";
import { type Code, type Machine, ScriptFailure } from "./machine.ts";

/** The code of a run: its program, then the answer that its input asks for. */
export function* handler(machine: Machine, node: Node): Code {
  const { input } = machine;
  if (input.promise !== undefined)
    yield* ask(machine, { type: "completePromise", key: input.promise, completion: valueResult('"poked"') });
  yield* perform(machine, node);
  if (input.answer !== undefined)
    machine.ask({ type: "completeAwakeable", awakeable: input.answer, completion: valueResult('"answered"') });
  return valueResult(JSON.stringify({ program: input.program, seen: machine.digest }));
}

/** Asks and waits for the completion. */
function* ask(machine: Machine, command: Command): Code {
  return yield* completed(machine.ask(command));
}

function* completed(id: number): Code {
  const result = yield { on: "command", id };
  if (result.kind === "failure") throw new ScriptFailure(result.failure);
  return result;
}

function* perform(machine: Machine, node: Node): Code {
  const { key, service, mode } = machine.start;
  switch (node.op) {
    case "step": {
      const base = { type: "step", name: node.name, ...(node.into ? { into: STREAM } : {}) } as const;
      const command: Command = node.atMostOnce ? { ...base, atMostOnce: true } : base;
      return yield* completed(machine.ask(command, node));
    }
    case "sleep":
      return yield* ask(machine, { type: "sleep", wakeAt: machine.now() + node.ms });
    case "call":
      return yield* ask(machine, {
        type: "call",
        target: targetOf(node.to),
        input: encodeInput({ program: node.to.program }),
        ...idempotency(node.to),
      });
    case "send":
      return yield* send(machine, node);
    case "get":
    case "keys":
    case "set":
    case "clear":
    case "clearAll":
      if (key === null || (mode === "shared" && node.op !== "get" && node.op !== "keys")) return VOID;
      return yield* state(machine, node);
    case "signal":
      return yield* signal(node.name);
    case "handshake":
      return yield* handshake(machine, node.to);
    case "promise":
      return service === "wf" ? yield* promise(machine, node.verb, node.name) : VOID;
    case "attach":
    case "output":
      return yield* ask(machine, { type: node.op, ref: refOf(node.to) });
    case "stream":
      return yield* stream(machine, node);
    default:
      return yield* compound(machine, node);
  }
}

function* compound(machine: Machine, node: Extract<Node, { op: "seq" | "all" | "race" | "try" | "fail" }>): Code {
  switch (node.op) {
    case "seq":
      for (const item of node.nodes) yield* perform(machine, item);
      return VOID;
    case "all":
    case "race":
      return yield {
        on: "fibers",
        fibers: node.nodes.map((item) => machine.spawn(perform(machine, item))),
        mode: node.op,
      };
    case "try":
      try {
        return yield* perform(machine, node.node);
      } catch (error) {
        if (!(error instanceof ScriptFailure)) throw error;
        yield* perform(machine, node.rescue);
        if (error.cancelled) throw error;
        return VOID;
      }
    case "fail":
      throw new ScriptFailure({ code: 500, message: "the program fails", errorCode: "P0001" });
  }
}

function* signal(name: string | number): Code {
  const payload = yield { on: "signal", signal: name };
  if (payload.kind === "failure") throw new ScriptFailure(payload.failure);
  return payload;
}

function idempotency(to: Callee): { idempotencyKey: string } | Record<never, never> {
  return to.idempotencyKey === null ? {} : { idempotencyKey: to.idempotencyKey };
}

function* send(machine: Machine, node: SendNode): Code {
  const due = node.delayMs === 0 ? {} : { invokeAt: machine.now() + node.delayMs };
  const id = machine.ask({
    type: "send",
    target: targetOf(node.to),
    input: encodeInput({ program: node.to.program }),
    ...due,
    ...idempotency(node.to),
  });
  if (node.then === "nothing") return VOID;
  yield { on: "entry", id };
  const run = machine.child(id);
  if (run === null) return VOID;
  const what = node.then === "cancel" ? 1 : "s0";
  machine.ask({
    type: "sendSignal",
    run,
    signal: what,
    payload:
      node.then === "cancel"
        ? VOID
        : valueResult(JSON.stringify(`from ${machine.run} ${machine.start.generation} ${id}`)),
  });
  return VOID;
}

function* state(machine: Machine, node: Extract<Node, { op: "get" | "keys" | "set" | "clear" | "clearAll" }>): Code {
  switch (node.op) {
    case "get": {
      const command = { type: "getState", key: node.name } as const;
      return machine.read(command, valueResult(machine.state?.get(node.name))) ?? (yield* ask(machine, command));
    }
    case "keys": {
      const command = { type: "getStateKeys" } as const;
      return (
        machine.read(command, valueResult(JSON.stringify([...(machine.state?.keys() ?? [])].sort()))) ??
        (yield* ask(machine, command))
      );
    }
    case "set": {
      const { recorded } = machine;
      const own = JSON.stringify(`${machine.run.slice(-6)} ${machine.digest}`);
      const value = recorded?.type === "setState" ? recorded.value : own;
      machine.ask({ type: "setState", key: node.name, value });
      if (machine.isNew) machine.state?.set(node.name, value);
      return VOID;
    }
    case "clear":
      machine.ask({ type: "clearState", key: node.name });
      if (machine.isNew) machine.state?.delete(node.name);
      return VOID;
    case "clearAll":
      machine.ask({ type: "clearAllState" });
      if (machine.isNew) machine.state?.clear();
      return VOID;
  }
}

function* stream(machine: Machine, { verb, number }: StreamNode): Code {
  const { generation, mode } = machine.start;
  const { run } = machine;
  switch (verb) {
    case "append": {
      const items = Array.from({ length: number }, (_, i) =>
        JSON.stringify(`${run.slice(-6)} ${generation} ${machine.digest} ${i}`),
      );
      machine.ask({ type: "append", stream: STREAM, count: number }, null, undefined, items);
      return VOID;
    }
    case "read":
      return yield* ask(machine, { type: "readStream", stream: STREAM, from: number - 1 });
    case "length":
      return yield* ask(machine, { type: "streamLength", stream: STREAM });
    case "trim": {
      const length = yield* ask(machine, { type: "streamLength", stream: STREAM });
      const before = Math.floor(Number(length.kind === "value" ? length.value : 0) / 2);
      if (mode !== "shared") machine.ask({ type: "trimStream", stream: STREAM, before });
      return VOID;
    }
  }
}

function* handshake(machine: Machine, to: Callee): Code {
  const number = ++machine.awakeables;
  const answer = encodeAwakeableId({ run: machine.run, signal: number });
  machine.ask({ type: "send", target: targetOf(to), input: encodeInput({ program: to.program, answer }) });
  return yield* signal(number);
}

function* promise(machine: Machine, verb: "get" | "peek" | "complete", name: string): Code {
  if (verb === "get") return yield* ask(machine, { type: "getPromise", key: name });
  if (verb === "peek") return yield* ask(machine, { type: "peekPromise", key: name });
  const id = machine.ask({ type: "completePromise", key: name, completion: valueResult('"kept"') });
  return yield { on: "command", id }; // Somebody else may have been first; that is no failure here.
}

function refOf(to: Callee): Extract<Command, { type: "attach" }>["ref"] {
  if (to.kind === "workflow" && to.key !== null) return { workflow: "wf", key: to.key };
  return { target: targetOf(to), idempotencyKey: to.idempotencyKey ?? "" };
}
