import { describe, expect, test } from "vitest";
import { encodeRunId } from "./ids.ts";
import { itemList, parseStream, type StreamRef, streamOwner, streamText } from "./streams.ts";

const run = encodeRunId(Uint8Array.from({ length: 24 }, (_, i) => i));

describe("streams as text", () => {
  test("every stream is found again in its text", () => {
    const refs: readonly StreamRef[] = [
      { owner: { service: "researcher", key: "ada" }, name: "transcript" },
      { owner: { service: "a", key: "" }, name: "n" },
      { owner: { service: "a", key: "b/c d%2F☃🦊" }, name: "x/y" },
      { owner: { run }, name: "events" },
      { owner: { run }, name: "näme/1" },
    ];
    for (const ref of refs) expect(parseStream(streamText(ref))).toEqual(ref);
    expect(new Set(refs.map(streamText)).size).toBe(refs.length);
    expect(streamText(refs[0] as StreamRef)).toBe("researcher/ada/transcript");
  });

  test("what names no stream is none", () => {
    for (const text of ["", "a", "a/b", `${run}`, `${run}/`, "a/b/", "/b/c", "a/b/c/d", "a/%/c", "run_1x/n"])
      expect(parseStream(text), text).toBeUndefined();
  });

  test("a keyed run names its key's streams, another its own", () => {
    expect(streamOwner({ id: run, service: "s", key: "k" })).toEqual({ service: "s", key: "k" });
    expect(streamOwner({ id: run, service: "s", key: null })).toEqual({ run });
  });
});

describe("lists of items", () => {
  test("texts stand as they are, bytes as base64", () => {
    expect(itemList([])).toBe("[]");
    expect(itemList(['{"a": 1}', "2.0"])).toBe('[{"a": 1},2.0]');
    for (let length = 0; length < 5; length += 1) {
      const bytes = Uint8Array.from({ length }, (_, i) => 255 - i * 77);
      expect(JSON.parse(itemList([bytes]))).toEqual([{ base64: Buffer.from(bytes).toString("base64") }]);
    }
  });
});
