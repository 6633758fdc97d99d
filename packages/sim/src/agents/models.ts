// The models of a world: scripts whose answers follow from the request and the seed. What goes wrong with a call follows
// from how often it came, too, so that a call that is made again may end better.

import {
  type Bill,
  type Script,
  type ScriptedAnswer,
  scriptedModel,
  type ScriptedModel,
  type ScriptedRequest,
  type ScriptedToolCall,
} from "@perdure/agents";
import { hashText, Random } from "../random.ts";
import type { AgentParameters, AgentPlan } from "./cast.ts";

export interface ModelPorts {
  readonly seed: number;
  readonly parameters: AgentParameters;
  /** The provider's own books: they outlive the hosts. */
  readonly bill: Bill;
  delay(ms: number, callback: () => void): () => void;
  faultsOn(): boolean;
  /** A request arrived at the provider. */
  asked(request: ScriptedRequest): void;
}

/** The agent's models, the one to fall back on last. */
export function modelsFor(plan: AgentPlan, ports: ModelPorts): readonly ScriptedModel[] {
  const ids = plan.fallback ? ["first", "second"] : ["first"];
  return ids.map((modelId) =>
    scriptedModel(scriptOf(plan, modelId, ports), {
      modelId,
      bill: ports.bill,
      delay: (ms, callback) => ports.delay(ms, callback),
    }),
  );
}

function scriptOf(plan: AgentPlan, modelId: string, ports: ModelPorts): Script {
  return (request, seen) => {
    ports.asked(request);
    const { seed, parameters } = ports;
    const key = request.idempotencyKey ?? "";
    const weather = new Random(hashText(`${modelId} ${key} ${seen}`, seed));
    const { cut, stall, refused } = ports.faultsOn() ? parameters.faults : { cut: 0, stall: 0, refused: 0 };
    if (weather.chance(refused)) {
      const error = weather.pick(["rate-limited", "overloaded", "server"] as const);
      return weather.chance(0.5) ? { error } : { error, retryAfterMs: weather.int(1, 400) };
    }
    const kind = weather.chance(cut) ? "cut" : weather.chance(stall) ? "stall" : undefined;
    const tokenMs = weather.int(0, parameters.tokenMsMax);
    return {
      ...(answerTo(request, plan, seed) as object),
      firstTokenMs: weather.int(0, parameters.firstTokenMsMax),
      ...(tokenMs === 0 ? {} : { tokensPerSecond: 1_000 / tokenMs }),
      ...(kind === undefined ? {} : { fault: { kind, afterTokens: weather.int(0, 4) } }),
    };
  };
}

/** Tool calls for some rounds, then a text. */
function answerTo(request: ScriptedRequest, plan: AgentPlan, seed: number): ScriptedAnswer {
  const last = request.messages.findLastIndex(({ role }) => role === "user");
  const said = request.messages[last]?.text ?? "";
  if (said.includes("Summarize the conversation")) return { text: "What was said before." };
  const rounds = request.messages.slice(last + 1).filter(({ role }) => role === "tool").length;
  const mind = new Random(hashText(`${plan.name} ${said}`, seed));
  const random = new Random(hashText(`${plan.name} ${said} ${rounds} ${request.idempotencyKey ?? ""}`, seed));
  if (rounds >= mind.int(0, 3) || request.tools.length === 0)
    return { text: `${plan.name} says ${"word ".repeat(random.int(0, 5))}to this.` };
  // The end of a sub-agent is no reason to start another one: else it would go on for ever.
  const usable = request.tools.filter((name) => !said.includes("has ended") || !isDelegation(name));
  if (usable.length === 0) return { text: "So it is." };
  const calls = Array.from({ length: random.int(1, 3) }, (_, at) => callOf(request, random, usable, at));
  return { ...(random.chance(0.4) ? { text: "Let me see." } : {}), toolCalls: calls };
}

function isDelegation(tool: string): boolean {
  return tool.startsWith("ask_") || tool.startsWith("start_") || tool === "child_steer" || tool === "child_resume";
}

function callOf(request: ScriptedRequest, random: Random, usable: readonly string[], at: number): ScriptedToolCall {
  const id = `k${hashText(`${request.idempotencyKey ?? ""} ${at}`).toString(36)}${hashText(`${at}`, 7).toString(36)}`;
  if (random.chance(0.03)) return { id, name: "no_such_tool", input: {} };
  const name = random.pick(usable);
  if (random.chance(0.03)) return { id, name, input: { wrong: true } };
  return { id, name, input: inputOf(name, id, request, random) };
}

function inputOf(name: string, id: string, request: ScriptedRequest, random: Random): object {
  if (name.startsWith("child_")) return childInput(name, request, random);
  if (name.startsWith("ask_") || name.startsWith("start_"))
    return { task: `task ${id}`, ...(random.chance(0.25) ? { session: "old" } : {}) };
  if (name === "read_result") return { toolCallId: id, from: 0 };
  return { id, amount: random.int(1, 99) };
}

function childInput(name: string, request: ScriptedRequest, random: Random): object {
  const names = request.messages.flatMap(({ role, text }) =>
    role === "tool" ? [...text.matchAll(/"child":"([^"]+)"/g)].map((match) => match[1]) : [],
  );
  const child = names.length === 0 ? "nobody" : random.pick(names);
  const text = `word for ${String(child)}`;
  if (name === "child_steer" || name === "child_resume") return { name: child, text };
  if (name === "child_interrupt" && random.chance(0.5)) return { name: child, text };
  return { name: child };
}
