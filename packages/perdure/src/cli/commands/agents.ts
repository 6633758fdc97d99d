// perdure agents: which agents are served, their sessions, and what one of these does.

import type { Command } from "commander";
import type { AgentSessionView, AgentsAnswer } from "@perdure/protocol";
import { adminCommand, type Cli, type CommonOptions } from "../cli.ts";
import type { AdminClient } from "../api/admin-client.ts";
import type { Output } from "../output.ts";
import { parseCount } from "../run-filter.ts";
import { paintStatus } from "../style.ts";
import type { Column } from "../table.ts";
import { plural, printable } from "../text.ts";
import { parseSessionName } from "../session-name.ts";

interface Options extends CommonOptions {
  readonly limit: number;
  readonly after?: string;
}

const AGENTS: readonly Column[] = [
  { title: "AGENT" },
  { title: "SESSIONS", align: "right" },
  { title: "AT WORK", align: "right" },
  { title: "DESCRIPTION", shrinksTo: 12 },
];
const SESSIONS: readonly Column[] = [
  { title: "SESSION", shrinksTo: 12 },
  { title: "STATE" },
  { title: "QUEUED", align: "right" },
  { title: "ITEMS", align: "right" },
  { title: "ASKS", align: "right" },
  { title: "SUB-AGENTS", align: "right" },
];
const READS_AT_ONCE = 20;

export function agentsCommand(cli: Cli): Command {
  return adminCommand("agents", "list agents; the sessions of one; what a session does")
    .argument("[agent]", "its name, or agent/session")
    .option("-n, --limit <count>", "how many sessions at most", parseCount, 50)
    .option("--after <session>", "those after this one")
    .action(async (name: string | undefined, options: Options) => {
      const admin = cli.admin(options);
      const out = cli.output(options);
      if (name === undefined) return listAgents(await admin.agents(), out);
      const { agent, session } = parseSessionName(name);
      if (session === undefined) return listSessions(admin, agent, out, options);
      showSession(await admin.session(agent, session), out);
    });
}

function listAgents(answer: AgentsAnswer, out: Output): void {
  if (out.json) return out.document(answer);
  if (answer.agents.length === 0)
    return out.note("no agents are served: export what agent() returns from a file that is served");
  const rows = answer.agents.map(({ name, sessions, open, description }) => [
    name,
    String(sessions),
    String(open),
    description ?? "",
  ]);
  out.raw(out.table(AGENTS, rows));
}

async function listSessions(admin: AdminClient, agent: string, out: Output, options: Options): Promise<void> {
  const page = await admin.sessions(agent, Math.min(options.limit, 1_000), options.after);
  const sessions: AgentSessionView[] = [];
  for (let at = 0; at < page.sessions.length; at += READS_AT_ONCE) {
    const some = page.sessions.slice(at, at + READS_AT_ONCE);
    sessions.push(...(await Promise.all(some.map((session) => admin.session(agent, session)))));
  }
  if (out.json) return out.document({ sessions, nextAfter: page.nextAfter });
  if (sessions.length === 0) return out.note(`nobody has said anything to ${agent} yet`);
  const rows = sessions.map(({ session, state, queued, items, approvals, children }) => [
    session,
    { text: state, paint: (text: string) => paintStatus(out.paint, STATUS_OF[state], text) },
    String(queued),
    String(items),
    String(approvals.length),
    String(children.length),
  ]);
  out.raw(out.table(SESSIONS, rows));
  if (page.nextAfter !== null) out.note(`more: the same with --after ${JSON.stringify(page.nextAfter)}`);
}

/** The status whose colour says the same. */
const STATUS_OF: Readonly<Record<AgentSessionView["state"], string>> = {
  idle: "scheduled",
  working: "running",
  waiting: "suspended",
  paused: "paused",
};

function showSession(view: AgentSessionView, out: Output): void {
  if (out.json) return out.document(view);
  const { agent, session, state, turn, queued, items, children, approvals } = view;
  const title = `${out.paint("bold", printable(`${agent}/${session}`))}  ${paintStatus(out.paint, STATUS_OF[state], state)}`;
  out.text(`${title}  ${plural(items, "item")}${queued === 0 ? "" : `, ${plural(queued, "message")} queued`}`);
  if (turn !== null) out.text(`  turn      ${turn}`);
  for (const approval of approvals) out.text(`  asks      ${approval.id}  ${printable(approval.title)}`);
  for (const child of children)
    out.text(`  sub-agent ${printable(child.name)}  ${child.runId}  ${paintStatus(out.paint, child.status ?? "gone")}`);
}
