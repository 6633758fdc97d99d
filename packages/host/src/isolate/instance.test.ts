import { ImageDamagedError, ImageMismatchError, IsolateLimitError } from "@perdure/protocol";
import { beforeAll, describe, expect, it } from "vitest";
import type { Engine } from "./engine.ts";
import { applyImage, type BaseImage, decodeBase, encodeBase, readImageHeader, WASM_PAGE_BYTES } from "./image-codec.ts";
import { Instance } from "./instance.ts";
import { MachinePool } from "./machine-pool.ts";
import { does, LIMITS, smallBase, told } from "./testing/small-guest.ts";

let engine: Engine;
let base: BaseImage;
beforeAll(async () => {
  ({ engine, base } = await smallBase());
});

const newInstance = (): Instance => Instance.start(new MachinePool(engine), base, LIMITS);
const SECRET = "the password of the third door";

/** What an image makes of a copy of the base. */
function memoryOf(image: Uint8Array): Buffer {
  const header = readImageHeader(image);
  const memory = new Uint8Array(header.memoryPages * WASM_PAGE_BYTES);
  memory.set(base.memory);
  applyImage(image, header, base, memory);
  return Buffer.from(memory.buffer);
}

describe("an image", () => {
  it("is the heap that it was taken of, also in another machine", () => {
    const instance = newInstance();
    told(instance, { act: "keep", name: "a", text: "hello" });
    const restored = Instance.restore(new MachinePool(engine), base, instance.capture(), LIMITS);
    expect(told(restored, { act: "say", name: "a" })).toEqual(["<hello>"]);
    expect(told(instance, { act: "say", name: "a" })).toEqual(["<hello>"]);
  });

  it("may be larger than its base", () => {
    const instance = newInstance();
    told(instance, { act: "grow", name: "bytes", bytes: 4 * 1_048_576 });
    told(instance, { act: "keep", name: "a", text: "after" });
    const image = instance.capture();
    expect(readImageHeader(image).memoryPages * WASM_PAGE_BYTES).toBeGreaterThan(base.memory.length);
    const restored = Instance.restore(new MachinePool(engine), base, image, LIMITS);
    expect(told(restored, { act: "say", name: "a" })).toEqual(["<after>"]);
  });

  it("is small where little was done", () => {
    const instance = newInstance();
    told(instance, { act: "keep", name: "a", text: "hello" });
    expect(instance.capture().length).toBeLessThan(1_500);
  });

  it.each([
    ["short", SECRET],
    ["long", SECRET.repeat(100)],
  ])("holds nothing of a %s text that was let go", (_, text) => {
    const instance = newInstance();
    told(instance, { act: "keep", name: "a", text });
    expect(memoryOf(instance.capture()).includes(SECRET)).toBe(true);
    told(instance, { act: "drop", name: "a" });
    expect(memoryOf(instance.capture()).includes(SECRET)).toBe(false);
  });

  it("goes on after what is free was overwritten", () => {
    const instance = newInstance();
    for (let round = 0; round < 20; round += 1) {
      for (let index = 0; index < 40; index += 1)
        told(instance, { act: "keep", name: `${round}.${index}`, text: "x".repeat(index * 13) });
      for (let index = 0; index < 40; index += 3) told(instance, { act: "drop", name: `${round}.${index}` });
      instance.capture();
    }
    expect(told(instance, { act: "say", name: "7.4" })).toEqual([`<${"x".repeat(52)}>`]);
    expect(told(instance, { act: "say", name: "7.3" })).toEqual(["nothing"]);
  });

  it("is the same where the same was done, however the stack looks", () => {
    const [one, other] = [newInstance(), newInstance()];
    told(one, { act: "keep", name: "a", text: "hello" });
    told(other, { act: "keep", name: "a", text: "hello" });
    expect(Buffer.compare(one.capture(), other.capture())).toBe(0);
  });

  it.each([
    ["is cut", (image: Uint8Array) => image.subarray(0, image.length - 20)],
    ["is something else", (image: Uint8Array) => image.toReversed()],
    ["says another number of words", (image: Uint8Array) => image.with(84, (image[84] ?? 0) ^ 1)],
  ])("is refused where it %s", (_, damage) => {
    const image = damage(newInstance().capture());
    expect(() => Instance.restore(new MachinePool(engine), base, image, LIMITS)).toThrow(ImageDamagedError);
  });

  it("is refused for another base", async () => {
    const other = await smallBase("other");
    const image = newInstance().capture();
    expect(() => Instance.restore(new MachinePool(engine), other.base, image, LIMITS)).toThrow(ImageMismatchError);
  });

  it("is refused by another engine", () => {
    const image = newInstance().capture();
    const pool = new MachinePool({ ...engine, hash: "00".repeat(32) });
    expect(() => Instance.restore(pool, base, image, LIMITS)).toThrow(ImageMismatchError);
  });
});

describe("a base", () => {
  it("is the same from its bytes", () => {
    const { bytes, hash } = encodeBase(base);
    const decoded = decodeBase(bytes);
    expect(decoded.hash).toBe(hash);
    expect(Buffer.compare(encodeBase(decoded).bytes, bytes)).toBe(0);
    expect(Buffer.compare(decoded.memory, base.memory)).toBe(0);
  });

  it("is refused where it is cut", () => {
    const { bytes } = encodeBase(base);
    expect(() => decodeBase(bytes.subarray(0, bytes.length - 20))).toThrow(ImageDamagedError);
  });
});

describe("an instance", () => {
  it("ends code that does not wait", () => {
    const instance = Instance.start(new MachinePool(engine), base, { ...LIMITS, turnMs: 1 });
    expect(() => instance.turn(does({ act: "loop" }))).toThrow(IsolateLimitError);
  });

  it("ends code that needs too much memory", () => {
    const instance = newInstance();
    const act = { act: "grow", name: "bytes", bytes: 2 * LIMITS.memoryBytes } as const;
    expect(() => instance.turn(does(act))).toThrow(IsolateLimitError);
  });

  it("ends code that calls itself for ever by an error of the code", () => {
    expect(() => told(newInstance(), { act: "recurse", depth: 1_000_000 })).toThrow(/stack/i);
  });
});
