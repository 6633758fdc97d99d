// The library: one corpus, indexed once per process, searched and read by every researcher
// ========================================================================================
// L1. The same files give the same passages, ids and order of answers.
// L2. Building yields to the event loop, so that other runs go on meanwhile.
// L3. What is held is bounded: by the corpus' size (files.ts) and by the number of libraries.

import { stat } from "node:fs/promises";

import MiniSearch from "minisearch";

import { projectDocuments, readDocuments, wholeFolder, type Document, type Reading, type Selection } from "./files.ts";
import { htmlToText } from "./html.ts";
import { splitMarkdown, splitText, type Passage } from "./passages.ts";
import { searchTerm, wordsOf } from "./words.ts";

interface Hit {
  readonly id: string;
  readonly heading: string;
  readonly score: number;
}

export interface Library {
  readonly folder: string;
  readonly documents: number;
  readonly passages: number;
  readonly leftOut: Reading["leftOut"];
  /** The best passages first, at most a few of each document. */
  search(query: string, limit: number): readonly Hit[];
  /** The passages that are there under these ids. */
  read(ids: readonly string[]): readonly Passage[];
}

/** There is nothing to search; trying again would not help. */
export class CorpusError extends Error {
  override readonly name = "CorpusError";
}

const PER_DOCUMENT_MAX = 3;
const LIBRARIES_MAX = 3;
const CHUNK = 200;

const libraries = new Map<string, Promise<Library>>();

/**
 * The library of a folder; without one, of the project's own documents.
 * @throws CorpusError
 */
export function openLibrary(folder: string | undefined, project: string): Promise<Library> {
  const key = folder ?? "";
  const known = libraries.get(key);
  if (known !== undefined) return known;
  const selection = folder === undefined ? projectDocuments(project) : wholeFolder(folder);
  const library = buildLibrary(selection);
  libraries.set(key, library);
  library.catch(() => libraries.delete(key)); // The folder may be there the next time.
  for (const oldest of libraries.keys()) {
    if (libraries.size <= LIBRARIES_MAX) break;
    libraries.delete(oldest);
  }
  return library;
}

export async function buildLibrary(selection: Selection): Promise<Library> {
  await checkFolder(selection.root);
  const { documents, leftOut } = await readDocuments(selection);
  const passages = new Map(documents.flatMap(passagesOf).map((passage) => [passage.id, passage]));
  if (passages.size === 0) {
    throw new CorpusError(
      `nothing to search in ${selection.root}: no Markdown, text or HTML file with text in it. ` +
        "Name another folder in RESEARCH_CORPUS.",
    );
  }
  const index = newIndex();
  await index.addAllAsync([...passages.values()], { chunkSize: CHUNK });
  return {
    folder: selection.root,
    documents: documents.length,
    passages: passages.size,
    leftOut,
    search: (query, limit) => search(index, passages, query, limit),
    read: (ids) => ids.flatMap((id) => passages.get(id) ?? []),
  };
}

async function checkFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => undefined);
  if (found?.isDirectory() === true) return;
  const what = found === undefined ? "does not exist" : "is not a folder";
  throw new CorpusError(`the corpus ${folder} ${what}. Name a folder in RESEARCH_CORPUS.`);
}

function passagesOf({ path, text }: Document): readonly Passage[] {
  if (/\.txt$/i.test(path)) return splitText(path, text);
  return splitMarkdown(path, /\.html?$/i.test(path) ? htmlToText(text) : text);
}

function newIndex(): MiniSearch<Passage> {
  return new MiniSearch<Passage>({
    fields: ["heading", "path", "text"],
    tokenize: (text) => [...wordsOf(text)],
    processTerm: searchTerm,
    searchOptions: { boost: { heading: 2 }, prefix: (term) => term.length > 4, weights: { prefix: 0.3, fuzzy: 0.2 } },
  });
}

function search(
  index: MiniSearch<Passage>,
  passages: ReadonlyMap<string, Passage>,
  query: string,
  limit: number,
): readonly Hit[] {
  let found = index.search(query, { boostDocument: ownFirst });
  if (found.length === 0) found = index.search(query, { fuzzy: 0.2 }); // Perhaps a slip of the finger.
  const perDocument = new Map<string, number>();
  const hits: Hit[] = [];
  for (const { id, score } of found) {
    const passage = passages.get(String(id));
    if (passage === undefined || hits.length === limit) continue;
    const seen = perDocument.get(passage.path) ?? 0;
    perDocument.set(passage.path, seen + 1);
    if (seen >= PER_DOCUMENT_MAX) continue;
    hits.push({ id: passage.id, heading: passage.heading, score: Math.round(score * 100) / 100 });
  }
  return hits;
}

/** A project's own word about itself counts more than its dependencies'. */
const ownFirst = (id: unknown) => (String(id).startsWith(`node_modules/`) ? 1 : 1.5);
