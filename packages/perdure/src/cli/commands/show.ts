// perdure show: one run as a timeline.

import type { Command } from "commander";
import type { EntryView, JournalPage, RunDetail, RunId, RunSummary } from "@perdure/protocol";
import type { AdminClient } from "../api/admin-client.ts";
import type { Cli, CommonOptions } from "../cli.ts";
import { adminCommand } from "../cli.ts";
import { findRun, shortId } from "../run-lookup.ts";
import { paintStatus, type Paint } from "../style.ts";
import { targetText } from "../target.ts";
import { plural, printable } from "../text.ts";
import { ago } from "../time-text.ts";
import { entryLines, headerLines, waitLines, type TimelineOptions } from "../timeline.ts";

interface Options extends CommonOptions {
  readonly full?: boolean;
  readonly all?: boolean;
  readonly tree?: boolean;
}

/** How much of a long journal is shown where nobody asked for all: its end. */
const ENTRIES_SHOWN = 200;
const PAYLOAD_SHOWN = 4_096;
const PAYLOAD_FULL = 33_554_432;
const TREE_NODES_MAX = 500;
const CHILDREN_SHOWN = 10;

export function showCommand(cli: Cli): Command {
  return adminCommand("show", "show one run: what it did, what it waits for, what can be done")
    .argument("<run>", "its id, or the beginning or end of it")
    .option("--full", "whole payloads")
    .option("--all", `the whole journal, not only its last ${ENTRIES_SHOWN} entries`)
    .option("--tree", "its children and theirs, too")
    .action(async (run: string, options: Options) => {
      const admin = cli.admin(options);
      const out = cli.output(options);
      const id = await findRun(admin, run);
      const maxPayload = options.full === true ? PAYLOAD_FULL : options.json === true ? undefined : PAYLOAD_SHOWN;
      const detail = await admin.run(id, { journalLimit: 1, ...(maxPayload === undefined ? {} : { maxPayload }) });
      const after = options.all === true ? 0 : Math.max(0, detail.entries - ENTRIES_SHOWN);
      const entries: EntryView[] = [];
      for await (const entry of admin.journal(id, after, maxPayload)) entries.push(entry);
      const tree = options.tree === true ? await treeOf(admin, id) : undefined;
      if (out.json) {
        // As the API gives it, with more of the journal.
        const journal: JournalPage = { entries, nextAfter: null };
        out.document({ ...detail, entriesOmitted: after, journal, ...(tree === undefined ? {} : { tree }) });
        return;
      }
      const commandLine = (...words: readonly string[]): string => cli.commandLine(options, ...words);
      const style: TimelineOptions = {
        paint: out.paint,
        width: out.width,
        now: out.now,
        full: options.full === true,
        commandLine,
      };
      out.text(text(detail, entries, after, tree, style));
    });
}

function text(
  detail: RunDetail,
  entries: readonly EntryView[],
  omitted: number,
  tree: Tree | undefined,
  style: TimelineOptions,
): string {
  const lines = [...headerLines(detail, style)];
  const section = (more: readonly string[]): void => void (more.length > 0 && lines.push("", ...more));
  const earlier =
    omitted === 0
      ? []
      : [style.paint("dim", `  … ${plural(omitted, "earlier entry", "earlier entries")}: --all shows them`)];
  section([...earlier, ...entryLines(entries, detail.run, style)]);
  section(waitLines(detail, entries, style));
  if (tree !== undefined) section([style.paint("bold", "tree"), ...treeLines(tree, style.paint, style.now)]);
  else section(childLines(detail, style));
  return lines.join("\n");
}

function childLines({ children }: RunDetail, { paint, now, commandLine }: TimelineOptions): readonly string[] {
  if (children.runs.length === 0) return [];
  const open = children.runs.filter((run) => run.finishedAt === null);
  const shown = (open.length > 0 ? open : children.runs).slice(0, CHILDREN_SHOWN);
  const count = `${children.nextCursor === null ? "" : "more than "}${plural(children.runs.length, "child", "children")}`;
  const title = open.length > 0 ? `${count}, ${open.length} of them not finished` : count;
  const command = commandLine("show", "<run>", "--tree");
  return [
    paint("bold", title),
    ...shown.map((run) => `  ${nodeText(run, paint, now)}`),
    paint("dim", `  all of them: ${command}`),
  ];
}

function nodeText(run: RunSummary, paint: Paint, now: number): string {
  return `${shortId(run.id)}  ${paintStatus(paint, run.status)}  ${printable(targetText(run))}  ${paint("dim", ago(Date.parse(run.createdAt), now))}`;
}

// The tree of calls
// -----------------

interface Tree {
  readonly run: RunSummary;
  readonly children: readonly Tree[];
  /** There are more than are shown. */
  readonly truncated?: true;
}

async function treeOf(admin: AdminClient, id: RunId): Promise<Tree> {
  let nodes = 0;
  const grow = async (run: RunSummary): Promise<Tree> => {
    const children: Tree[] = [];
    let truncated = false;
    for await (const child of admin.allRuns({ parent: run.id, order: "oldest" })) {
      nodes += 1;
      truncated = nodes > TREE_NODES_MAX;
      if (truncated) break;
      children.push(await grow(child));
    }
    return truncated ? { run, children, truncated } : { run, children };
  };
  const { input: _, headers: __, result: ___, ...run } = (await admin.run(id, { journalLimit: 1, maxPayload: 0 })).run;
  return grow(run);
}

function treeLines(tree: Tree, paint: Paint, now: number, indent = "  "): readonly string[] {
  const lines = [`${indent === "  " ? indent : ""}${nodeText(tree.run, paint, now)}`];
  const count = tree.children.length + (tree.truncated === true ? 1 : 0);
  for (const [at, child] of tree.children.entries()) {
    const isLast = at === count - 1;
    const [first = "", ...rest] = treeLines(child, paint, now, `${indent}${isLast ? "   " : "│  "}`);
    lines.push(`${indent}${isLast ? "└─ " : "├─ "}${first}`, ...rest);
  }
  if (tree.truncated === true) lines.push(`${indent}└─ … more`);
  return lines;
}
