import type { LanguageModelV4Content, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { describe, expect, it } from "vitest";
import { Assembly, partsOf } from "./assembly.ts";

const FINISH: LanguageModelV4StreamPart = {
  type: "finish",
  finishReason: { unified: "stop", raw: "stop" },
  usage: {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  },
};

function assemble(...parts: LanguageModelV4StreamPart[]): Assembly {
  const assembly = new Assembly();
  for (const part of parts) assembly.add(part);
  return assembly;
}

describe("an assembled answer", () => {
  it("A1: is what the model would have generated at once", () => {
    const content: LanguageModelV4Content[] = [
      { type: "reasoning", text: "hm", providerMetadata: { p: { signature: "s" } } },
      { type: "text", text: "a", citations: [] },
      { type: "tool-call", toolCallId: "1", toolName: "t", input: "{}" },
      { type: "source", sourceType: "url", id: "s", url: "https://example.com" },
      { type: "text", text: "b", providerMetadata: { p: { itemId: "i" } } },
    ];
    const assembly = assemble(
      ...partsOf({ content, warnings: [], finishReason: FINISH.finishReason, usage: FINISH.usage }),
    );
    expect(assembly.content()).toEqual(content);
    expect(assembly).toMatchObject({ finishReason: FINISH.finishReason, usage: FINISH.usage, text: "ab" });
  });

  it("keeps blocks that are told in turns apart, in the order of their beginnings", () => {
    const assembly = assemble(
      { type: "reasoning-start", id: "1" },
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", delta: "a" },
      { type: "reasoning-delta", id: "1", delta: "x" },
      { type: "text-delta", id: "1", delta: "b" },
      { type: "reasoning-end", id: "1", providerMetadata: { p: { signature: "s" } } },
      { type: "text-end", id: "1" },
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", delta: "c" },
      { type: "text-end", id: "1" },
      FINISH,
    );
    expect(assembly.content()).toEqual([
      { type: "reasoning", text: "x", providerMetadata: { p: { signature: "s" } } },
      { type: "text", text: "ab" },
      { type: "text", text: "c" },
    ]);
  });

  it("leaves out what a provider tells of the stream, which is no output yet", () => {
    const assembly = assemble({ type: "custom", kind: "anthropic.message_start", providerMetadata: { anthropic: {} } });
    expect(assembly.hasOutput).toBe(false);
    const custom: LanguageModelV4StreamPart = { type: "custom", kind: "anthropic.fallback" };
    assembly.add(custom);
    assembly.add(FINISH);
    expect([assembly.hasOutput, assembly.content()]).toEqual([true, [custom]]);
  });

  it("leaves out empty texts, but not reasoning that is encrypted", () => {
    const assembly = assemble(
      { type: "text-start", id: "1" },
      { type: "text-end", id: "1" },
      { type: "reasoning-start", id: "2", providerMetadata: { p: { redactedData: "…" } } },
      { type: "reasoning-end", id: "2" },
      { type: "reasoning-start", id: "3" },
      { type: "reasoning-end", id: "3" },
      FINISH,
    );
    expect(assembly.content()).toEqual([
      { type: "reasoning", text: "", providerMetadata: { p: { redactedData: "…" } } },
    ]);
  });

  it("A2: refers to nothing at the provider when it is unfinished, and holds no half tool call", () => {
    const assembly = assemble(
      { type: "reasoning-start", id: "1" },
      { type: "reasoning-delta", id: "1", delta: "x" },
      { type: "reasoning-end", id: "1", providerMetadata: { p: { itemId: "rs_1", signature: "s" } } },
      { type: "text-start", id: "2", providerMetadata: { p: { itemId: "msg_1" } } },
      { type: "text-delta", id: "2", delta: "half" },
      { type: "tool-input-start", id: "3", toolName: "t" },
      { type: "tool-input-delta", id: "3", delta: '{"a' },
    );
    expect(assembly.content()).toEqual([
      { type: "reasoning", text: "x", providerMetadata: { p: { signature: "s" } } },
      { type: "text", text: "half" },
    ]);
  });

  it("holds the final result of a tool, not the preliminary ones, and files as text", () => {
    const result = { type: "tool-result", toolCallId: "1", toolName: "image" } as const;
    const assembly = assemble(
      { ...result, result: "first", preliminary: true },
      { ...result, result: "second", preliminary: true },
      { ...result, result: "third" },
      { type: "file", mediaType: "image/png", data: { type: "data", data: new Uint8Array([104, 105, 255]) } },
      FINISH,
    );
    expect(assembly.content()).toEqual([
      { ...result, result: "third" },
      { type: "file", mediaType: "image/png", data: { type: "data", data: "aGn/" } },
    ]);
  });
});
