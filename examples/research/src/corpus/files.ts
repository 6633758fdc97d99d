// Which files a corpus consists of: every Markdown, text and HTML file of a folder, in a fixed order, within bounds.

import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";

export interface Selection {
  /** What paths are relative to. */
  readonly root: string;
  /** Whether to look into a folder. */
  readonly enters: (path: string) => boolean;
  /** Whether to take a file (of a known kind). */
  readonly takes: (path: string) => boolean;
}

export interface Document {
  readonly path: string;
  readonly text: string;
}

export interface Reading {
  readonly documents: readonly Document[];
  /** Files that were found and not taken, each with the reason. */
  readonly leftOut: readonly { readonly path: string; readonly reason: string }[];
}

const DOCUMENT = /\.(?:md|mdx|markdown|txt|html?)$/i;
const FILES_MAX = 20_000;
const FILE_BYTES_MAX = 1_000_000;
const CORPUS_BYTES_MAX = 32_000_000;

/** Everything that is written in a folder. */
export function wholeFolder(root: string): Selection {
  const enters = (path: string) => !/(?:^|\/)(?:\.[^/]+|node_modules)$/.test(path);
  return { root, enters, takes: () => true };
}

/** A project's own documents (at its top and in docs/) and those of its installed dependencies. */
export function projectDocuments(root: string): Selection {
  // Histories and licences are long and answer nothing.
  const noise = /(?:^|\/)(?:changelog|changes|history|license|licence|security|code_of_conduct|notice)[^/]*$/i;
  const enters = (path: string) =>
    /^(?:docs|node_modules)(?:\/|$)/.test(path) && !/\/(?:\.[^/]*|tests?|fixtures)$/i.test(path);
  return { root, enters, takes: (path) => /\.mdx?$/i.test(path) && !noise.test(path) };
}

/** @throws where the folder cannot be read. */
export async function readDocuments(selection: Selection): Promise<Reading> {
  const documents: Document[] = [];
  const leftOut: { path: string; reason: string }[] = [];
  let bytes = 0;
  for (const path of await listFiles(selection)) {
    const file = join(selection.root, path);
    const { size } = await stat(file);
    if (size > FILE_BYTES_MAX) leftOut.push({ path, reason: `larger than ${FILE_BYTES_MAX / 1e6} MB` });
    else if (bytes + size > CORPUS_BYTES_MAX) leftOut.push({ path, reason: "the corpus is full" });
    else {
      bytes += size;
      documents.push({ path, text: (await readFile(file, "utf8")).replace(/^\uFEFF/, "") });
    }
  }
  return { documents, leftOut };
}

/** Depth first, by name; links are not followed, so that nothing is met twice. */
async function listFiles({ root, enters, takes }: Selection): Promise<readonly string[]> {
  const files: string[] = [];
  const visit = async (folder: string): Promise<void> => {
    const entries = await readdir(join(root, folder), { withFileTypes: true });
    entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries) {
      if (files.length >= FILES_MAX) return;
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory() && enters(path)) await visit(path);
      if (entry.isFile() && DOCUMENT.test(path) && takes(path)) files.push(path);
    }
  };
  await visit("");
  return files;
}
