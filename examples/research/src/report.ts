// The report: findings joined into Markdown in which every citation leads to a passage
// ======================================================================================
// R1. Sources are numbered in the order in which the findings use them.
// R2. A citation of something that is not a source is removed, whatever a model wrote.
// R3. It says which model wrote it.

import type { MaterialFinding } from "./model/material.ts";
import type { ReportAnswer } from "./model/tasks.ts";
import type { Notes, Source, Usage } from "./types.ts";

/** The passages that findings rest on, each once. */
export function sourcesOf(notes: readonly Notes[]): readonly Source[] {
  const byId = new Map(notes.flatMap(({ read }) => read).map((source) => [source.id, source]));
  const used = new Set(notes.flatMap(({ findings }) => findings).flatMap(({ passages }) => passages));
  return [...used].flatMap((id) => byId.get(id) ?? []);
}

/** The findings with their sources as numbers: what the writer gets to read. */
export function numberedFindings(notes: readonly Notes[], sources: readonly Source[]): readonly MaterialFinding[] {
  const numbers = new Map(sources.map(({ id }, at) => [id, at + 1]));
  return notes.flatMap(({ topic, findings }) =>
    findings.map(({ claim, passages }) => ({
      topic,
      claim,
      sources: passages.flatMap((id) => numbers.get(id) ?? []),
    })),
  );
}

/** Where nothing was found, nothing needs to be asked of a model. */
export function emptyReport(question: string): ReportAnswer {
  return { title: question, summary: "The documents say nothing about this.", sections: [] };
}

export function renderReport(answer: ReportAnswer, question: string, sources: readonly Source[], usage: Usage): string {
  const text = (written: string) => onlyKnown(written, sources.length).trim();
  const sections = answer.sections.flatMap(({ heading, text: body }) => [`## ${oneLine(heading)}`, text(body)]);
  const list = sources.map(({ path, line, heading }, at) => `${at + 1}. \`${path}:${line}\` ${heading}`);
  return [
    `# ${oneLine(answer.title)}`,
    ...(oneLine(answer.title) === oneLine(question) ? [] : [`> ${oneLine(question)}`]),
    text(answer.summary),
    ...sections,
    ...(list.length === 0 ? [] : ["## Sources", list.join("\n")]),
    "---",
    `*${signature(usage)}*`,
  ]
    .join("\n\n")
    .concat("\n");
}

/** R3 */
function signature({ models, calls, tokens }: Usage): string {
  const paid = tokens === undefined || tokens === 0 ? "" : `, ${tokens} tokens`;
  return `Written by ${models.join(", then ")} (${calls} call${calls === 1 ? "" : "s"}${paid}).`;
}

/** R2. Models also write [1, 2] for [1][2]. */
function onlyKnown(text: string, count: number): string {
  return text.replaceAll(/ ?\[(\d+(?:\s*[,;]\s*\d+)*)\](?!\()/g, (match, list: string) => {
    const numbers = list.split(/[,;]/).map(Number);
    const known = numbers.filter((number) => number >= 1 && number <= count);
    const space = match.startsWith(" ") && known.length > 0 ? " " : "";
    return space + known.map((number) => `[${number}]`).join("");
  });
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, " ").trim();
