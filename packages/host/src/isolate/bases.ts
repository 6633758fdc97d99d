// Base images: the memory with a bundle loaded, that all runs of the bundle start from and their images differ from.
// Each is made once, kept in the store as an artifact, and found again by later processes: an image is worth nothing
// without its base.

import type { Artifacts } from "@perdure/engine";
import { ImageMismatchError } from "@perdure/protocol";
import { decodeBase, type BaseImage } from "./image-codec.ts";
import { shared } from "./isolate-thread.ts";
import { loadEngine } from "./engine.ts";

export type MakeBase = (bundle: {
  readonly code: string;
  readonly hash: string;
}) => Promise<{ readonly base: BaseImage; readonly bytes: Uint8Array }>;

export class Bases {
  readonly #artifacts: Artifacts;
  readonly #make: MakeBase;
  /** By the hash of the base. */
  readonly #loaded = new Map<string, Promise<BaseImage>>();
  /** By the hash of the bundle: what new runs start from. */
  readonly #current = new Map<string, Promise<BaseImage>>();

  constructor(artifacts: Artifacts, make: MakeBase) {
    this.#artifacts = artifacts;
    this.#make = make;
  }

  /**
   * @param base the one that an image names; null: any of the bundle.
   * @throws ImageMismatchError
   */
  find(bundle: string, base: string | null): Promise<BaseImage> {
    return base === null
      ? once(this.#current, bundle, () => this.#findOrMake(bundle))
      : once(this.#loaded, base, () => this.#load(base));
  }

  async #load(hash: string): Promise<BaseImage> {
    const artifact = await this.#artifacts.get(hash);
    if (artifact === null)
      throw new ImageMismatchError(
        `the base ${hash.slice(0, 12)}, which an image of the run needs, is not in the store`,
      );
    const base = decodeBase(artifact.bytes);
    return { ...base, memory: shared(base.memory) };
  }

  async #findOrMake(bundle: string): Promise<BaseImage> {
    const engine = await loadEngine();
    const known = (await this.#artifacts.list()).find(
      ({ kind, about }) => kind === "base" && about["bundle"] === bundle && about["engine"] === engine.hash,
    );
    if (known !== undefined) return this.find(bundle, known.hash);
    const code = await this.#artifacts.get(bundle);
    if (code === null)
      throw new ImageMismatchError(`the bundle ${bundle.slice(0, 12)}, whose code the run needs, is not in the store`);
    const { base, bytes } = await this.#make({ code: Buffer.from(code.bytes).toString("utf8"), hash: bundle });
    await this.#artifacts.put("base", bytes, { bundle, engine: engine.hash });
    this.#loaded.set(base.hash, Promise.resolve(base));
    return base;
  }
}

/** A failure is not kept: the next one who asks tries again. */
function once<T>(map: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  let made = map.get(key);
  if (made === undefined) {
    made = make();
    map.set(key, made);
    made.catch(() => map.delete(key));
  }
  return made;
}
