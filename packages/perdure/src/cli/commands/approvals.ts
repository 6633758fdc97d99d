// perdure approvals: what waits for a person's decision, and the decision.

import { Command } from "commander";
import type { ApprovalAnswer, ApprovalView } from "@perdure/agents";
import type { ApprovalSummary } from "@perdure/protocol";
import { askJson } from "../api/http.ts";
import { adminCommand, adminOption, ingressCommand, type Cli, type CommonOptions } from "../cli.ts";
import type { AdminClient } from "../api/admin-client.ts";
import { RefusedError, UsageError } from "../errors.ts";
import type { Output } from "../output.ts";
import { parseCount } from "../run-filter.ts";
import { personName } from "../session-name.ts";
import type { Column } from "../table.ts";
import { checkJson, readInput } from "../target.ts";
import { printable } from "../text.ts";
import { ago, clockTime } from "../time-text.ts";

interface ListOptions extends CommonOptions {
  readonly limit: number;
  readonly all?: boolean;
  readonly cursor?: number;
}

interface AnswerOptions extends CommonOptions {
  readonly as?: string;
  readonly comment?: string;
  readonly input?: string;
}

const COLUMNS: readonly Column[] = [
  { title: "ID" },
  { title: "ASKED" },
  { title: "STATE" },
  { title: "WHO" },
  { title: "WHAT", shrinksTo: 16 },
];

export function approvalsCommand(cli: Cli): Command {
  return new Command("approvals")
    .description("list what waits for a person; show, approve or reject one")
    .addCommand(listCommand(cli), { isDefault: true })
    .addCommand(showCommand(cli))
    .addCommand(answerCommand(cli, "approve", "let it be done, as it is asked or with --input"))
    .addCommand(answerCommand(cli, "reject", "have it not done; --comment says why"));
}

function listCommand(cli: Cli): Command {
  return adminCommand("list", "list open ones, newest first (what `perdure approvals` does alone)")
    .option("--all", "also those that are over")
    .option("-n, --limit <count>", "how many at most (up to 1000)", parseCount, 50)
    .option("--cursor <number>", "the page after this one: a list ends by saying it", parseCount)
    .action(async (options: ListOptions) => {
      const out = cli.output(options);
      const page = await cli.admin(options).approvals({
        status: options.all === true ? "all" : "open",
        limit: Math.min(options.limit, 1_000),
        ...(options.cursor === undefined ? {} : { cursor: options.cursor }),
      });
      if (out.json) return out.document(page);
      if (page.approvals.length === 0) return out.note("nothing waits for a person");
      out.raw(
        out.table(
          COLUMNS,
          page.approvals.map((approval) => row(approval, out)),
        ),
      );
      if (page.nextCursor !== null) out.note(`more: the same with --cursor ${page.nextCursor}`);
    });
}

function row({ id, askedAt, state, agent, session, title }: ApprovalSummary, out: Output): readonly string[] {
  const who = agent === null ? "" : session === null ? agent : `${agent}/${session}`;
  return [id, ago(Date.parse(askedAt), out.now), state, who, title];
}

function approvalCommand(name: string, description: string): Command {
  return ingressCommand(name, description)
    .addOption(adminOption())
    .argument("<id>", "its id (apr_…), or the beginning or end of it while it is open");
}

function showCommand(cli: Cli): Command {
  return approvalCommand("show", "what will be done, who may answer, how it ended").action(
    async (id: string, options: CommonOptions) => {
      const view = await ask<ApprovalView>(cli, options, await findApproval(cli.admin(options), id));
      const out = cli.output(options);
      if (out.json) out.document(view);
      else out.raw(viewText(view, out));
    },
  );
}

function viewText(
  { id, run, state, request, approvers, askedAt, expiresAt, decision }: ApprovalView,
  out: Output,
): string {
  const { title, input, agent, session, tool } = request;
  const lines: (readonly [string, string])[] = [
    ["asked", `${clockTime(askedAt)}  ${ago(askedAt, out.now)}, by ${run}`],
    ...(agent === undefined ? [] : [["agent", session === undefined ? agent : `${agent}/${session}`] as const]),
    ...(tool === undefined ? [] : [["tool", tool] as const]),
    ...(approvers === undefined ? [] : [["may answer", approvers.join(", ") || "nobody now"] as const]),
    ...(expiresAt === undefined ? [] : [["expires", ago(expiresAt, out.now)] as const]),
    ...(decision?.by === undefined ? [] : [["answered", `by ${decision.by}, ${ago(decision.at, out.now)}`] as const]),
    ...(decision?.comment === undefined ? [] : [["comment", decision.comment] as const]),
  ];
  const head = `${out.paint("bold", id)}  ${state}\n  ${printable(title)}\n`;
  const rows = lines.map(([name, text]) => `  ${out.paint("dim", name.padEnd(10))}  ${printable(text)}\n`).join("");
  const what = decision?.input ?? input;
  return `${head}${rows}${what === undefined ? "" : `${JSON.stringify(what, null, 2)}\n`}`;
}

function answerCommand(cli: Cli, name: "approve" | "reject", description: string): Command {
  const command = approvalCommand(name, description)
    .option("--as <name>", "who you are (default: $USER)")
    .option("--comment <text>", "is told to the agent, and kept in the audit log");
  if (name === "approve")
    command.option("--input <json>", "what is to be done instead; - reads it from standard input");
  return command.action(async (id: string, options: AnswerOptions) => {
    const input = await readInput(options.input, cli.io);
    const answer: ApprovalAnswer = {
      decision: name === "approve" ? "approved" : "rejected",
      by: personName(options.as, cli.io.env),
      ...(options.comment === undefined ? {} : { comment: options.comment }),
      ...(input === undefined ? {} : { input: checkJson(input) }),
    };
    const found = await findApproval(cli.admin(options), id);
    const decision = await ask<unknown>(cli, options, found, answer);
    const out = cli.output(options);
    if (out.json) out.document({ id: found, ...(decision as object) });
    else out.text(`${found}  ${answer.decision} by ${answer.by}`);
  });
}

function ask<T>(cli: Cli, options: CommonOptions, id: string, answer?: ApprovalAnswer): Promise<T> {
  const path = `/perdure/approvals/${encodeURIComponent(id)}`;
  return askJson(cli.ingress(options).connection, path, answer === undefined ? {} : { method: "POST", body: answer });
}

const WHOLE_ID = /^apr_[0-9a-f]{40}$/;
const PART_CHARS_MIN = 4;
const OPEN_MAX = 1_000;

/** A part of an id is enough where one open approval alone has it. */
async function findApproval(admin: AdminClient, text: string): Promise<string> {
  if (WHOLE_ID.test(text)) return text;
  if (text.length < PART_CHARS_MIN) throw new UsageError(`"${text}" is too short for a part of an id: write 4 or more`);
  const { approvals } = await admin.approvals({ status: "open", limit: OPEN_MAX });
  const bare = text.replace(/^apr_/, "");
  const found = approvals.filter(({ id }) => id.startsWith(`apr_${bare}`) || id.endsWith(bare));
  const [only] = found;
  if (found.length === 1 && only !== undefined) return only.id;
  if (found.length > 1) throw new UsageError(`"${text}" fits ${found.length} open approvals: write more of the id`);
  throw new RefusedError(404, `no open approval has "${text}" in its id`, undefined, {
    do: "`perdure approvals` lists those that are open; one that is over is named by its whole id",
  });
}
