import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  decodeRunId,
  encodeAwakeableId,
  encodeRunId,
  FIRST_AWAKEABLE_SIGNAL,
  parseAwakeableId,
  parseRunId,
} from "./ids.ts";

const bytes24 = fc.uint8Array({ minLength: 24, maxLength: 24 });

describe("run ids", () => {
  test("bytes to text and back", () => {
    fc.assert(
      fc.property(bytes24, (bytes) => {
        const id = encodeRunId(bytes);
        expect(id).toMatch(/^run_1[0-9A-Za-z]{33}$/);
        expect(decodeRunId(id)).toEqual(bytes);
        expect(parseRunId(id)).toBe(id);
      }),
    );
  });

  test("the text keeps the order of the bytes", () => {
    fc.assert(
      fc.property(bytes24, bytes24, (a, b) => {
        const order = Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b)));
        const [left, right] = [encodeRunId(a), encodeRunId(b)];
        expect(left < right ? -1 : left > right ? 1 : 0).toBe(order);
      }),
    );
  });

  test("the largest id fits, one more does not parse", () => {
    const largest = encodeRunId(new Uint8Array(24).fill(255));
    expect(parseRunId(largest)).toBe(largest);
    expect(parseRunId(`run_1${"z".repeat(33)}`)).toBeUndefined();
  });

  test("the Restate spelling names the same run", () => {
    const id = encodeRunId(new Uint8Array(24).fill(7));
    expect(parseRunId(id.replace("run_", "inv_"))).toBe(id);
  });

  test("other texts are no ids", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        if (!/^(run|inv)_1/.test(text)) expect(parseRunId(text)).toBeUndefined();
      }),
    );
    for (const text of ["", "run_1", "run_2" + "0".repeat(33), `run_1${"0".repeat(32)}`, `run_1${"0".repeat(32)}-`])
      expect(parseRunId(text)).toBeUndefined();
  });
});

describe("awakeable ids", () => {
  test("run and signal to text and back", () => {
    fc.assert(
      fc.property(bytes24, fc.integer({ min: FIRST_AWAKEABLE_SIGNAL, max: 0xffff_ffff }), (bytes, signal) => {
        const ref = { run: encodeRunId(bytes), signal };
        const id = encodeAwakeableId(ref);
        expect(id).toMatch(/^sign_1[\w-]+$/);
        expect(parseAwakeableId(id)).toEqual(ref);
      }),
    );
  });

  test("a built-in signal cannot be reached by an awakeable id", () => {
    const id = encodeAwakeableId({ run: encodeRunId(new Uint8Array(24)), signal: 1 });
    expect(parseAwakeableId(id)).toBeUndefined();
  });

  test("only one text names an awakeable", () => {
    fc.assert(
      fc.property(bytes24, fc.integer({ min: 0, max: 63 }), (bytes, last) => {
        const id = encodeAwakeableId({ run: encodeRunId(bytes), signal: 17 });
        const other = id.slice(0, -1) + "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"[last];
        const parsed = parseAwakeableId(other);
        if (other !== id && parsed !== undefined) expect(encodeAwakeableId(parsed)).toBe(other);
      }),
    );
  });

  test("other texts are no ids", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(parseAwakeableId(`x${text}`)).toBeUndefined();
      }),
    );
    for (const text of ["sign_1", "sign_1!!!", "sign_1AAAA"]) expect(parseAwakeableId(text)).toBeUndefined();
  });
});
