import type { StreamItem } from "@perdure/engine";
import { describe, expect, test } from "vitest";
import { itemJson, StreamFrames } from "./stream-frames.ts";

const stream = { owner: { service: "s", key: "k" }, name: "n" };
const item = (offset: number, payload: string | Uint8Array = `"${offset}"`, at = 0): StreamItem => ({
  offset,
  at,
  writer: "1.1",
  payload,
});

describe("frames", () => {
  test("are made once for all who read the stream", () => {
    const frames = new StreamFrames();
    const one = frames.open(stream);
    const two = frames.open(stream);
    expect(one.of(item(0))).toBe(two.of(item(0)));
    expect(String(one.of(item(0)))).toBe(
      'id: 0\ndata: {"offset":0,"at":"1970-01-01T00:00:00.000Z","writer":"1.1","item":"0"}\n\n',
    );
  });

  test("are of the item that is there now, also where the stream was begun anew", () => {
    const frames = new StreamFrames().open(stream);
    const before = frames.of(item(0, '"a"'));
    expect(frames.of(item(0, '"b"'))).not.toBe(before);
    expect(frames.of(item(0, '"b"', 1))).not.toBe(before);
  });

  test("are kept for the newest items only, and for nobody when the last reader has gone", () => {
    const frames = new StreamFrames();
    const reader = frames.open(stream);
    const first = reader.of(item(0));
    for (let offset = 1; offset <= 1_000; offset += 1) reader.of(item(offset));
    expect(reader.of(item(0))).not.toBe(first);
    const last = reader.of(item(1_000));
    expect(reader.of(item(1_000))).toBe(last);
    reader.close();
    expect(frames.open(stream).of(item(1_000))).not.toBe(last);
  });

  test("hold payloads that JSON cannot, and keep to one line", () => {
    expect(JSON.parse(itemJson(item(0, new Uint8Array([1, 2]))))).toMatchObject({ item: { base64: "AQI=" } });
    const text = itemJson(item(0, '{\r\n  "a": "b\\nc"\n}'));
    expect(text).not.toMatch(/[\r\n]/);
    expect(JSON.parse(text)).toMatchObject({ item: { a: "b\nc" } });
  });
});
