// The material of a report: plain text with a few tags, for language models to read and for the extractive model to take
// apart again. Tags inside the material itself are defused, so that no document can pretend to be an instruction.

export interface Finding {
  readonly topic: string;
  readonly claim: string;
  /** Numbers of sources. */
  readonly sources: readonly number[];
}

export interface Source {
  /** From 1: what a report cites. */
  readonly number: number;
  /** `path:line`. */
  readonly place: string;
  readonly heading: string;
}

export interface Material {
  readonly question: string;
  readonly findings: readonly Finding[];
  readonly sources: readonly Source[];
}

export function writeMaterial({ question, findings, sources }: Material): string {
  return [
    `<question>${defuse(question)}</question>`,
    ...findings.map(
      ({ topic, sources: numbers, claim }) =>
        `<finding topic="${attribute(topic)}" sources="${numbers.join(" ")}">${defuse(claim)}</finding>`,
    ),
    ...sources.map(
      ({ number, place, heading }) =>
        `<source number="${number}" place="${attribute(place)}" heading="${attribute(heading)}"></source>`,
    ),
  ].join("\n");
}

export function readMaterial(text: string): Material {
  return {
    question: contents(text, "question")[0]?.body ?? "",
    findings: contents(text, "finding").map(({ body, attributes }) => ({
      topic: attributes["topic"] ?? "",
      sources: (attributes["sources"] ?? "").split(" ").filter(Boolean).map(Number),
      claim: body,
    })),
    sources: contents(text, "source").map(({ attributes }) => ({
      number: Number(attributes["number"]),
      place: attributes["place"] ?? "",
      heading: attributes["heading"] ?? "",
    })),
  };
}

interface Content {
  readonly attributes: Readonly<Record<string, string>>;
  readonly body: string;
}

function contents(text: string, tag: string): readonly Content[] {
  const pattern = new RegExp(`<${tag}((?: [a-z]+="[^"]*")*)>\\n?([\\s\\S]*?)\\n?</${tag}>`, "g");
  return [...text.matchAll(pattern)].map(([, attributes = "", body = ""]) => ({
    attributes: Object.fromEntries([...attributes.matchAll(/([a-z]+)="([^"]*)"/g)].map(([, k = "", v = ""]) => [k, v])),
    body,
  }));
}

const defuse = (text: string) => text.replaceAll(/<(?=\/?(?:question|finding|source)\b)/gi, "‹").trim();
const attribute = (text: string) => defuse(text).replaceAll(/["\s]+/g, " ");
