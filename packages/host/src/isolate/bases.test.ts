import { createMemoryStorage, openMemoryStore, type Artifacts } from "@perdure/engine";
import { ImageMismatchError, IsolateModuleError } from "@perdure/protocol";
import { describe, expect, test } from "vitest";
import { Bases } from "./bases.ts";
import { loadEngine } from "./engine.ts";
import { type BaseImage, encodeBase, WASM_PAGE_BYTES } from "./image-codec.ts";

const BUNDLE_TEXT = "the code";
const REGISTERS = { stackPointer: 0, runtime: 1, context: 2, entry: { undefined: 1, turn: 2, settle: 3 } };

async function open(): Promise<{ readonly artifacts: Artifacts; readonly bundle: string }> {
  const { artifacts } = openMemoryStore(createMemoryStorage());
  const bundle = await artifacts.put("bundle", Buffer.from(BUNDLE_TEXT), { entry: "agents.ts" });
  return { artifacts, bundle };
}

async function madeOf(bundle: string): Promise<{ readonly base: BaseImage; readonly bytes: Uint8Array }> {
  const { hash: engine } = await loadEngine();
  const made = { engine, bundle, ...REGISTERS, memory: new Uint8Array(WASM_PAGE_BYTES), dictionary: new Uint8Array(0) };
  const { bytes, hash } = encodeBase(made);
  return { base: { ...made, hash }, bytes };
}

const unmade = (): Promise<never> => Promise.reject(new Error("nothing is to be made"));

describe("the base of a bundle", () => {
  test("is made once, however many ask, kept, and found by later processes", async () => {
    const { artifacts, bundle } = await open();
    const codes: string[] = [];
    const bases = new Bases(artifacts, ({ code, hash }) => {
      codes.push(code);
      return madeOf(hash);
    });
    const found = await Promise.all([bases.find(bundle, null), bases.find(bundle, null), bases.find(bundle, null)]);
    expect(codes).toEqual([BUNDLE_TEXT]);
    expect(new Set(found.map(({ base }) => base)).size).toBe(1);
    const later = await new Bases(artifacts, unmade).find(bundle, null);
    expect(later.base.hash).toBe(found[0]?.base.hash);
    expect(later.base.memory.buffer).toBeInstanceOf(SharedArrayBuffer); // Read by all threads, copied by none.
  });

  test("that failed to be made is made again for the next who asks", async () => {
    const { artifacts, bundle } = await open();
    let tries = 0;
    const bases = new Bases(artifacts, ({ hash }) => {
      tries += 1;
      return tries === 1 ? Promise.reject(new Error("boom")) : madeOf(hash);
    });
    await expect(bases.find(bundle, null)).rejects.toThrow(IsolateModuleError);
    expect((await bases.find(bundle, null)).base.bundle).toBe(bundle);
  });

  test("of another engine is not taken: a new one is made beside it", async () => {
    const { artifacts, bundle } = await open();
    const other = await madeOf(bundle);
    await artifacts.put("base", other.bytes, { bundle, engine: "another" });
    let made = 0;
    await new Bases(artifacts, ({ hash }) => {
      made += 1;
      return madeOf(hash);
    }).find(bundle, null);
    expect(made).toBe(1);
  });
});

describe("refused", () => {
  test("a bundle, and a base, that are not in the store", async () => {
    const { artifacts, bundle } = await open();
    const bases = new Bases(artifacts, unmade);
    await expect(bases.find("ab".repeat(32), null)).rejects.toThrow(
      /the bundle abababababab, whose code the run needs/,
    );
    await expect(bases.find(bundle, "cd".repeat(32))).rejects.toThrow(
      /the base cdcdcdcdcdcd, which an image of the run needs/,
    );
  });

  test("a base of another bundle than the run's", async () => {
    const { artifacts, bundle } = await open();
    const other = await artifacts.put("bundle", Buffer.from("other code"), { entry: "agents.ts" });
    const { bytes } = await madeOf(other);
    const base = await artifacts.put("base", bytes, { bundle: other });
    const bases = new Bases(artifacts, unmade);
    await expect(bases.find(bundle, base)).rejects.toThrow(ImageMismatchError);
    await expect(bases.find(bundle, base)).rejects.toThrow(/was made of the bundle/);
    expect((await bases.find(other, base)).base.hash).toBe(base);
  });
});
