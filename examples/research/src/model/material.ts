// The material of a prompt: plain text with a few tags, for language models to read and for the extractive model to
// take apart again. Tags inside the material itself are defused, so that no document can pretend to be an instruction.

interface MaterialPassage {
  /** Its number in this prompt, from 1: what a model cites. */
  readonly number: number;
  readonly place: string;
  readonly heading: string;
  readonly text: string;
}

export interface MaterialFinding {
  readonly topic: string;
  readonly sources: readonly number[];
  readonly claim: string;
}

export interface Material {
  readonly question: string;
  readonly topic?: string;
  readonly count?: number;
  readonly headings?: readonly string[];
  readonly passages?: readonly MaterialPassage[];
  readonly findings?: readonly MaterialFinding[];
}

export function writeMaterial(material: Material): string {
  const { question, topic, count, headings = [], passages = [], findings = [] } = material;
  return [
    `<question>${defuse(question)}</question>`,
    ...(topic === undefined ? [] : [`<topic>${defuse(topic)}</topic>`]),
    ...(count === undefined ? [] : [`<count>${count}</count>`]),
    ...headings.map((heading) => `<heading>${defuse(heading)}</heading>`),
    ...passages.map(
      ({ number, place, heading, text }) =>
        `<passage number="${number}" place="${attribute(place)}" heading="${attribute(heading)}">\n${defuse(text)}\n</passage>`,
    ),
    ...findings.map(
      ({ topic: about, sources, claim }) =>
        `<finding topic="${attribute(about)}" sources="${sources.join(" ")}">${defuse(claim)}</finding>`,
    ),
  ].join("\n");
}

export function readMaterial(text: string): Material {
  const [count] = contents(text, "count");
  const [topic] = contents(text, "topic");
  return {
    question: contents(text, "question")[0]?.body ?? "",
    ...(topic === undefined ? {} : { topic: topic.body }),
    ...(count === undefined ? {} : { count: Number(count.body) }),
    headings: contents(text, "heading").map(({ body }) => body),
    passages: contents(text, "passage").map(({ body, attributes }) => ({
      number: Number(attributes["number"]),
      place: attributes["place"] ?? "",
      heading: attributes["heading"] ?? "",
      text: body,
    })),
    findings: contents(text, "finding").map(({ body, attributes }) => ({
      topic: attributes["topic"] ?? "",
      sources: (attributes["sources"] ?? "").split(" ").filter(Boolean).map(Number),
      claim: body,
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

const defuse = (text: string) =>
  text.replaceAll(/<(?=\/?(?:question|topic|count|heading|passage|finding)\b)/gi, "‹").trim();
const attribute = (text: string) => defuse(text).replaceAll(/["\s]+/g, " ");
