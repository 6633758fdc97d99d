import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sha256 } from "./sha256.ts";

const platform = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");

describe("sha256", () => {
  test.each([
    ["", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
    ["abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
    [
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    ],
  ])("of %j is what the standard says", (text, hash) => {
    expect(sha256(text)).toBe(hash);
  });

  test("is the platform's for every length around the ends of blocks", () => {
    for (let length = 0; length <= 200; length += 1) {
      const text = "a".repeat(length);
      expect(sha256(text), `${length} bytes`).toBe(platform(text));
    }
  });

  test("of bytes is the platform's, wherever they stand in their buffer", () => {
    const bytes = Uint8Array.from({ length: 300 }, (_, i) => (i * 7) % 256).subarray(3, 297);
    expect(sha256(bytes)).toBe(createHash("sha256").update(bytes).digest("hex"));
  });

  test("is the platform's for any text", () => {
    fc.assert(fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), (text) => sha256(text) === platform(text)));
  });
});
