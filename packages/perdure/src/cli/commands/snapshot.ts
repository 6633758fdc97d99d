// perdure snapshot: what is in an image of a run.

import { Command } from "commander";
import type { ImageInspectionAnswer, RunId } from "@perdure/protocol";
import type { AdminClient } from "../api/admin-client.ts";
import { adminCommand, type Cli, type CommonOptions } from "../cli.ts";
import { waitText } from "../describe-entry.ts";
import { RefusedError } from "../errors.ts";
import { shortHash } from "../migration-text.ts";
import { findEntry } from "../moment-lookup.ts";
import { findRun } from "../run-lookup.ts";
import { formatBytes, plural } from "../text.ts";
import { clockTime } from "../time-text.ts";

interface Options extends CommonOptions {
  readonly at?: string;
}

export function snapshotCommand(cli: Cli): Command {
  return new Command("snapshot").description("look into the images of runs").addCommand(inspectCommand(cli));
}

function inspectCommand(cli: Cli): Command {
  return adminCommand("inspect", "what an image holds: sizes, changed pages, the heap, what stands after it")
    .argument("<run|hash>", "a run, whose newest image is meant, or the beginning of an image's hash")
    .option("--at <entry>", "the image at that entry, by its number or a moment's name")
    .action(async (text: string, options: Options) => {
      const admin = cli.admin(options);
      const { run, entry } = await findImage(admin, text, options.at);
      const answer = await admin.inspectImage(run, entry);
      const out = cli.output(options);
      if (out.json) out.document(answer);
      else out.text(lines(answer).join("\n"));
    });
}

const HASH = /^[0-9a-f]{12,64}$/;

/** @throws RefusedError where there is none */
async function findImage(
  admin: AdminClient,
  text: string,
  at: string | undefined,
): Promise<{ readonly run: RunId; readonly entry: number }> {
  if (HASH.test(text)) {
    const { rows } = await admin.sql(
      `SELECT runs.id, images.entry FROM images JOIN runs ON runs.seq = images.run WHERE images.hash LIKE '${text}%' ORDER BY images.at DESC LIMIT 1`,
      1,
    );
    const [run, entry] = rows[0] ?? [];
    if (typeof run !== "string" || typeof entry !== "number")
      throw new RefusedError(404, `there is no image whose hash begins with ${text}`, "P0031");
    return { run: run as RunId, entry };
  }
  const run = await findRun(admin, text);
  if (at !== undefined) return { run, entry: await findEntry(admin, run, at) };
  const newest = (await admin.moments(run)).moments.at(-1);
  if (newest === undefined)
    throw new RefusedError(404, "the run has no image: it is resumed from its journal", "P0031");
  return { run, entry: newest.entry };
}

function lines(image: ImageInspectionAnswer): readonly string[] {
  const { runId, entry, name, at, hash, bytes, pages, heap } = image;
  const size = (count: number): string => formatBytes(count * pages.pageBytes);
  return [
    `image   ${shortHash(hash)}, of ${runId} after entry ${entry}${name === null ? "" : ` ("${name}")`}, taken ${clockTime(Date.parse(at))}`,
    `stored  ${formatBytes(bytes)}; ${formatBytes(image.changedBytes)} differ from the base, of ${formatBytes(image.memoryBytes)} of memory`,
    `pages   ${pages.changed} of ${pages.total} changed: ${pages.code} with code (${size(pages.code)}), ${pages.heap} of the heap (${size(pages.heap)}), ${pages.free} free again`,
    `code    bundle ${shortHash(image.bundle)}, base ${shortHash(image.base)}, engine ${shortHash(image.engine)}${image.isOurEngine ? "" : " (not the one of this Perdure: it cannot be resumed here)"}`,
    ...(heap === null ? [] : [`heap    ${heapText(heap)}`]),
    `after   ${plural(image.entriesAfter, "entry", "entries")}`,
    ...image.waits.map((wait) => `waits   ${waitText(wait)}`),
  ];
}

function heapText({ allocatedBytes, ...kinds }: NonNullable<ImageInspectionAnswer["heap"]>): string {
  const { objects, strings, functions, atoms, arrays, buffers } = kinds;
  const part = ({ count, bytes }: { readonly count: number; readonly bytes: number }, what: string): string =>
    `${count} ${what} (${formatBytes(bytes)})`;
  return [
    `${formatBytes(allocatedBytes)} allocated`,
    part(objects, "objects"),
    part(strings, "strings"),
    part(functions, "functions"),
    part(atoms, "atoms"),
    `${arrays.count} arrays`,
    part(buffers, "buffers"),
  ].join(", ");
}
