// What the extractive model writes: a report from its material, and the answer that tells of it.

import { readMaterial, type Finding } from "./material.ts";

const SUMMARY_CLAIMS = 3;
export const SIGNATURE = "*Put together from quotes by the extractive model: no language model is configured.*";

export function writeReport(task: string): string {
  const { question, findings, sources } = readMaterial(task);
  const told = findings.filter(({ claim }, at) => findings.findIndex((other) => other.claim === claim) === at);
  const topics = [...Map.groupBy(told, ({ topic }) => topic)];
  const best = topics.flatMap(([, found]) => found.slice(0, 1)).slice(0, SUMMARY_CLAIMS);
  const used = new Set(told.flatMap((finding) => finding.sources));
  return [
    `# ${question === "" ? "A report" : question}`,
    best.length === 0 ? "There are no findings to write about." : best.map(cited).join(" "),
    ...topics.flatMap(([topic, found]) => [`## ${topic}`, found.map((finding) => `- ${cited(finding)}`).join("\n")]),
    ...(used.size === 0
      ? []
      : [
          "## Sources",
          sources
            .filter(({ number }) => used.has(number))
            .map(({ number, place, heading }) => `${number}. \`${place}\` ${heading}`)
            .join("\n"),
        ]),
    SIGNATURE,
  ].join("\n\n");
}

const cited = ({ claim, sources }: Finding): string => `${claim} ${sources.map((number) => `[${number}]`).join("")}`;

/** The title, and what stands before the first section. */
export function openingOf(report: string): { readonly title: string; readonly summary: string } {
  const [, title = "Report", rest = ""] = /^#\s+(.+)\n+([^]*)$/.exec(report.trim()) ?? [];
  return { title: title.trim(), summary: (rest.split(/^## /m, 1)[0] ?? "").trim() };
}

/** The lines under "## Sources". */
export function sourcesIn(report: string): string {
  const list = report.split(/^## Sources\s*$/m, 2)[1] ?? "";
  return list
    .split("\n")
    .filter((line) => /^\d+\. /.test(line))
    .join("\n");
}
