// @vitest-environment jsdom
import { cleanup, render, waitFor } from "@testing-library/react";
import { afterEach, beforeAll, expect, test } from "vitest";
import type { JsonValue } from "@perdure/protocol";
import { chooseLanguage } from "../../i18n/languages.ts";
import { at, runId } from "../../testing/samples.ts";
import { NO_ACTIVITY } from "./activity.ts";
import { BlockRow } from "./blocks.tsx";
import { conversationOf } from "./conversation.ts";
import type { TranscriptItem } from "./items.ts";
import { OpenPartsContext } from "./open-parts.ts";

beforeAll(async () => {
  await chooseLanguage("en");
  await import("../../ui/markdown.tsx"); // A chunk of its own, which the answer then finds loaded.
}, 60_000);
afterEach(cleanup);

const EVIL = `<img src=x onerror=alert(1)><script>alert(1)</script>[x](javascript:alert(1))\u202e`;
const USAGE = { inputTokens: 1, outputTokens: 1, usd: null, calls: 1 };

/** Every place of a transcript that somebody else fills. */
const ITEMS: readonly TranscriptItem[] = [
  { type: "message", id: runId(1), text: EVIL, policy: "steer", from: EVIL },
  {
    type: "assistant",
    call: "c1",
    content: [
      { type: "reasoning", text: EVIL },
      { type: "text", text: EVIL },
      { type: "tool-call", toolCallId: "t1", toolName: EVIL, input: JSON.stringify({ [EVIL]: EVIL }) },
      { type: "source", url: "javascript:alert(1)", title: EVIL },
      { type: "file", mediaType: EVIL },
    ],
    finish: "stop",
    usage: USAGE,
    model: EVIL,
  },
  { type: "decision", approval: "a", callId: "t1", decision: "rejected", by: EVIL, comment: EVIL, input: EVIL },
  { type: "tool", callId: "t1", name: EVIL, outcome: "error", output: EVIL },
  { type: "compaction", summary: EVIL, upTo: 2 },
  { type: "unknown", json: { type: EVIL } as JsonValue },
];

test("whatever agents, tools and people wrote is text, with everything opened", async () => {
  const ends = [
    {
      offset: 0,
      at: at(9_999),
      item: { type: "turn-end", turn: runId(1), reason: "failed", usage: USAGE, error: EVIL },
    } as const,
  ];
  const blocks = conversationOf({
    items: ITEMS.map((item, offset) => ({ offset, at: at(offset), item })),
    activity: { ...NO_ACTIVITY, ends },
    pending: [{ runId: runId(2), text: EVIL, policy: "queue", from: EVIL, at: at(10_000) }],
    isAtWork: false,
  });
  const { container } = render(
    <OpenPartsContext value={{ isToggled: () => true, toggle: () => undefined }}>
      {blocks.map((block) => (
        <BlockRow key={block.key} block={block} isCurrent={false} run={undefined} approvals={new Map()} menu={null} />
      ))}
    </OpenPartsContext>,
  );
  await waitFor(() => expect(container.querySelector(".answer .document:not(.plain)")).not.toBeNull(), {
    timeout: 30_000,
  });
  expect(blocks).toHaveLength(6);
  expect(container.querySelectorAll("img, script, iframe, style, form, object")).toHaveLength(0);
  expect([...container.querySelectorAll("a")].map((link) => link.getAttribute("href"))).toEqual([]);
  const attributes = [...container.querySelectorAll("*")].flatMap((element) => [...element.attributes]);
  expect(attributes.filter(({ name, value }) => name.startsWith("on") || value.includes("\u202e"))).toEqual([]);
  expect(container.textContent).not.toContain("\u202e");
  // Each of them is still to be read, as what it is.
  expect(container.textContent.split("onerror=alert(1)").length - 1).toBeGreaterThanOrEqual(14);
}, 60_000);
