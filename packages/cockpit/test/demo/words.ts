// What the agents of the demo say and write, in the order of their turns.

import type { ScriptedReply } from "perdure/testing";

/** A reader's pace, so that there is something to watch. */
const READING = { tokensPerSecond: 45, firstTokenMs: 350 } as const;

export const REPORT = `# Solid-state batteries: who ships first?

Three makers have announced pilot lines; **one** delivers cells that can be bought today.

## Where they stand

| maker | electrolyte | pilot line | cells to buyers |
| --- | --- | --- | --- |
| Northlight | sulfide | 2024 | samples |
| Kirin Cells | oxide | 2025 | yes, small |
| Aurelia | polymer | 2026 | no |

## What holds them back

1. Pressure: sulfide cells want to be pressed while they charge [notes/pressure.md:41].
2. Dendrites at fast charging, at every maker that publishes figures [papers/dendrites.md:12].
3. Cost: dry rooms at -60 °C dew point [reports/cost-2025.md:88].

> What is sold as "semi-solid" has up to 10 % of liquid in it, and is not counted here.
`;

export const REFUND_TASK = "Order 4711 arrived broken, the customer wants the money back.";

/** By what was asked of an agent, and how many tools have answered since. */
export const TURNS: Readonly<Record<string, readonly ScriptedReply[]>> = {
  "Which maker of solid-state batteries will ship first?": [
    {
      ...READING,
      text: "I look for announcements, and for who has delivered anything.",
      toolCalls: [
        { name: "search", input: { query: "solid-state battery pilot line 2025" } },
        { name: "search", input: { query: "oxide electrolyte cells delivered" } },
      ],
      usage: { inputTokens: 1_240, outputTokens: 96 },
    },
    {
      ...READING,
      text: "Three candidates. The figures stand in these four documents.",
      toolCalls: [{ name: "read_page", input: { pages: ["notes/pressure.md:41", "papers/dendrites.md:12"] } }],
      usage: { inputTokens: 4_810, outputTokens: 120 },
    },
    {
      ...READING,
      toolCalls: [
        { name: "delegate", input: { task: "Write the report: makers, where they stand, what holds them back." } },
      ],
      usage: { inputTokens: 9_350, outputTokens: 61 },
    },
    {
      ...READING,
      text: "The report is ready. It goes to everybody, so I ask before I publish it.",
      toolCalls: [{ name: "publish", input: { title: "Solid-state batteries: who ships first?", markdown: REPORT } }],
      usage: { inputTokens: 11_900, outputTokens: 640 },
    },
    { ...READING, text: "Published.", usage: { inputTokens: 12_700, outputTokens: 12 } },
  ],
  "Compare the three heat pump subsidies": [
    {
      ...READING,
      text: "I read the three programmes first.",
      toolCalls: [{ name: "search", input: { query: "heat pump subsidy 2026 conditions" } }],
      usage: { inputTokens: 1_180, outputTokens: 70 },
    },
    {
      firstTokenMs: 200,
      tokensPerSecond: 6,
      text: [
        "The federal programme pays up to 40 % of the cost and asks for a certified installer. The state adds 15 % where the house",
        "is older than 1995, and refuses hybrids. The town's is a fixed sum of 2,000, paid within eight weeks, and the only one of",
        "the three that may be combined with both others. For a house of 1988 with radiators the order matters: the state wants to",
        "be asked before the contract is signed, the town after the pump runs. I compare the conditions one by one, beginning with",
        "the age of the building, then the efficiency that each asks for, then what a landlord may pass on to those who live there.",
      ].join(" "),
      usage: { inputTokens: 3_400, outputTokens: 210 },
    },
  ],
  [REFUND_TASK]: [
    {
      ...READING,
      text: "I look the order up.",
      toolCalls: [{ name: "order", input: { id: "4711" } }],
      usage: { inputTokens: 620, outputTokens: 24 },
    },
    {
      ...READING,
      text: "It was 129.00, delivered on Tuesday, and there is a photo. Above 100 a person decides.",
      toolCalls: [{ name: "refund", input: { order: "4711", amount: 129, reason: "arrived broken" } }],
      usage: { inputTokens: 940, outputTokens: 51 },
    },
    { ...READING, text: "The money is on its way.", usage: { inputTokens: 1_010, outputTokens: 14 } },
  ],
  "Where is my parcel 8123?": [
    {
      ...READING,
      toolCalls: [{ name: "order", input: { id: "8123" } }],
      usage: { inputTokens: 580, outputTokens: 20 },
    },
    {
      ...READING,
      text: "It left Hamburg this morning and arrives tomorrow before noon.",
      usage: { inputTokens: 760, outputTokens: 22 },
    },
  ],
};
