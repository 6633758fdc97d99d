// Permissions: may this tool be called with this input?
// =====================================================
// The order in which that is decided; what comes first counts:
//
//   1. the rules, from the first to the last: the first that fits decides, however special a later one is
//   2. what the tool says of itself (`approval`): "always" asks, "never" allows, a function asks where it is true
//   3. the default of its kind: a tool that reads is allowed; one that writes too, unless the agent says `writes`
//
// The switch for an agent's writes (`controls`) is not a part of this: it may only take away (`restrict`).
//
// R1. A rule that cannot fit anything is refused when it is defined, with its place, and not found out by its silence.
// R2. Nothing here waits, or looks at anything but its arguments: a replay decides alike.
// R3. A function of a user that fails, or does not answer with a boolean, ends the call (DefinitionError): neither "fits"
//     nor "does not fit" would be safe.

import { DefinitionError, isPerdureError } from "@perdure/protocol";
import { validate } from "@perdure/sdk";
import { requestSchema } from "../approvals/schemas.ts";
import type { CompiledPattern } from "./input-pattern.ts";
import { checkAnswer, compilePattern } from "./input-pattern.ts";
import type { Glob } from "./glob.ts";
import { matchesGlob, parseGlob } from "./glob.ts";
import type { InputPath } from "./input-path.ts";
import { parsePath, valueAt } from "./input-path.ts";
import type { PermissionAction, PermissionRule, ToolCall, Verdict } from "./types.ts";
import { mostRestrictive } from "./types.ts";

/** Rules that were checked. */
export interface Permissions {
  readonly rules: readonly CompiledRule[];
}

interface CompiledRule {
  readonly rule: PermissionRule;
  /** `rule 2 (tool "bash")`. */
  readonly name: string;
  readonly tool: Glob;
  readonly when: readonly { readonly path: InputPath; readonly pattern: CompiledPattern; readonly place: string }[];
}

/**
 * @param place what the rules belong to, for messages: `agent "researcher"`.
 * @throws DefinitionError where a rule cannot fit anything, or says what it cannot mean.
 */
export function permissions(rules: readonly PermissionRule[], place: string): Permissions {
  return { rules: rules.map((rule, index) => compileRule(rule, index, place)) };
}

/** @param options.writes what becomes of tools that write where nothing else says; default `allow`. */
export function decide(
  { rules }: Permissions,
  call: ToolCall,
  options: { readonly writes?: PermissionAction } = {},
): Verdict {
  for (const [index, compiled] of rules.entries()) {
    if (!fits(compiled, call)) continue;
    const { rule, name } = compiled;
    const why = rule.reason === undefined ? name : `${name}: ${rule.reason}`;
    return { action: rule.action, decided: { by: "rule", index, rule }, why };
  }
  if (call.approval !== undefined) {
    const asks = asksForApproval(call, call.approval);
    const why = `the tool itself ${asks ? "asks for" : "needs no"} approval`;
    return { action: asks ? "ask" : "allow", decided: { by: "tool" }, why };
  }
  const action = call.kind === "read" ? "allow" : (options.writes ?? "allow");
  return { action, decided: { by: "default" }, why: `no rule fits, and it ${call.kind}s` };
}

/** The verdict under a switch for writes: the more restrictive of both counts. Tools that read are left alone. */
export function restrict(
  verdict: Verdict,
  call: Pick<ToolCall, "kind">,
  control: {
    readonly writes: PermissionAction;
    readonly target: string;
    readonly by?: string;
    readonly reason?: string;
  },
): Verdict {
  const { writes, target, by, reason } = control;
  const action = call.kind === "read" ? verdict.action : mostRestrictive(verdict.action, writes);
  if (action === verdict.action) return verdict;
  const who = by === undefined ? "" : ` by ${by}`;
  return {
    ...verdict,
    action,
    why: `writes of "${target}" are set to "${writes}"${who}${reason === undefined ? "" : `: ${reason}`}`,
  };
}

function fits({ tool, when }: CompiledRule, call: ToolCall): boolean {
  return (
    matchesGlob(tool, call.tool) &&
    when.every(({ path, pattern, place }) => pattern(valueAt(call.input, path), call.input, place))
  );
}

function asksForApproval(call: ToolCall, approval: NonNullable<ToolCall["approval"]>): boolean {
  if (typeof approval !== "function") return approval === "always";
  return checkAnswer(() => approval(call.input), `the approval of tool "${call.tool}"`);
}

// Definition
// ----------

const ACTIONS: ReadonlySet<unknown> = new Set<PermissionAction>(["allow", "ask", "deny"]);
const ONLY_WITH_ASK = ["approvers", "expires", "escalate"] as const;

function compileRule(rule: PermissionRule, index: number, place: string): CompiledRule {
  const name = `rule ${index + 1} (tool "${rule.tool}")`;
  const where = `${name} of ${place}`;
  const refuse = (why: string): never => {
    throw new DefinitionError(`${where}: ${why}`);
  };
  const tool = typeof rule.tool === "string" && rule.tool !== "" ? parseGlob(rule.tool) : undefined;
  if (tool === undefined) return refuse('tool is the name of a tool, or a glob such as "file.*"');
  if (!ACTIONS.has(rule.action)) refuse(`action is "allow", "ask" or "deny", not ${JSON.stringify(rule.action)}`);
  for (const option of ONLY_WITH_ASK)
    if (rule[option] !== undefined && rule.action !== "ask")
      refuse(`${option} goes with action "ask": here nobody is asked`);
  checkAsking(rule, refuse);
  const when = Object.entries(rule.when ?? {}).map(([text, pattern]) => {
    const path = parsePath(text);
    if (path === undefined)
      return refuse(`when["${text}"] is no place in an input: write names and indexes, to.domain or files[0].path`);
    const at = `when["${text}"] of ${where}`;
    return { path, pattern: compilePattern(pattern, at), place: at };
  });
  return { rule, name, tool, when };
}

/** What an approval's request would be refused for, said when the rule is written and not when it is first used. */
function checkAsking({ approvers, expires, escalate }: PermissionRule, refuse: (why: string) => never): void {
  const asking = Object.entries({ approvers, expires, escalate }).filter(([, value]) => value !== undefined);
  try {
    void validate(requestSchema, { kind: "tool", title: "a rule", ...Object.fromEntries(asking) }, "what it asks");
  } catch (error) {
    if (isPerdureError(error)) refuse(error.message);
    throw error;
  }
}
