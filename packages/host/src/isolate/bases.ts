// Base images: the memory with a bundle loaded, that all runs of the bundle start from and their images differ from.
// Each is made once, kept in the store as an artifact, and found again by later processes: an image is worth nothing
// without its base.

import type { Artifact, Artifacts } from "@perdure/engine";
import { ImageMismatchError, IsolateModuleError } from "@perdure/protocol";
import { decodeBase, type BaseImage } from "./image-codec.ts";
import { shared } from "./isolate-thread.ts";
import { splitBundle, StackTraces } from "./stack-traces.ts";
import { loadEngine } from "./engine.ts";

export type MakeBase = (bundle: {
  readonly code: string;
  readonly hash: string;
}) => Promise<{ readonly base: BaseImage; readonly bytes: Uint8Array }>;

export interface LoadedBundle {
  readonly base: BaseImage;
  readonly traces: StackTraces;
}

export class Bases {
  readonly #artifacts: Artifacts;
  readonly #make: MakeBase;
  /** By the hash of the base. */
  readonly #bases = new Map<string, Promise<BaseImage>>();
  /** By the hash of the bundle: what new runs start from. */
  readonly #current = new Map<string, Promise<BaseImage>>();
  /** By the hash of the bundle. */
  readonly #scripts = new Map<string, Promise<Script>>();

  constructor(artifacts: Artifacts, make: MakeBase) {
    this.#artifacts = artifacts;
    this.#make = make;
  }

  /**
   * @param base the one that an image names; null: any of the bundle.
   * @throws ImageMismatchError; IsolateModuleError where the bundle cannot be loaded
   */
  async find(bundle: string, base: string | null): Promise<LoadedBundle> {
    const { traces } = await this.#script(bundle);
    const found =
      base === null
        ? once(this.#current, bundle, () => this.#findOrMake(bundle))
        : once(this.#bases, base, () => this.#load(base));
    const loaded = await found;
    if (loaded.bundle !== bundle)
      throw new ImageMismatchError(
        `an image of the run was made of the bundle ${loaded.bundle.slice(0, 12)}, and the run is one of ${bundle.slice(0, 12)}`,
      );
    return { base: loaded, traces };
  }

  #script(bundle: string): Promise<Script> {
    return once(this.#scripts, bundle, async () => {
      const artifact = await this.#artifacts.get(bundle);
      if (artifact === null)
        throw new ImageMismatchError(
          `the bundle ${bundle.slice(0, 12)}, whose code the run needs, is not in the store`,
        );
      return read(SCRIPTS, artifact.bytes, () => scriptOf(artifact));
    });
  }

  async #load(hash: string): Promise<BaseImage> {
    const artifact = await this.#artifacts.get(hash);
    if (artifact === null)
      throw new ImageMismatchError(
        `the base ${hash.slice(0, 12)}, which an image of the run needs, is not in the store`,
      );
    return read(DECODED, artifact.bytes, () => {
      const base = decodeBase(artifact.bytes);
      return { ...base, memory: shared(base.memory) };
    });
  }

  async #findOrMake(bundle: string): Promise<BaseImage> {
    const engine = await loadEngine();
    const known = (await this.#artifacts.list()).find(
      ({ kind, about }) => kind === "base" && about["bundle"] === bundle && about["engine"] === engine.hash,
    );
    if (known !== undefined) return once(this.#bases, known.hash, () => this.#load(known.hash));
    const script = await this.#script(bundle);
    const { base, bytes } = await this.#made(bundle, script);
    await this.#artifacts.put("base", bytes, { bundle, engine: engine.hash });
    this.#bases.set(base.hash, Promise.resolve(base));
    return base;
  }

  async #made(bundle: string, { code, traces, entry }: Script): ReturnType<MakeBase> {
    try {
      return await this.#make({ code, hash: bundle });
    } catch (cause) {
      const { message, stack = "" } = cause as Error;
      throw new IsolateModuleError(
        `${entry} failed while it was loaded into an isolate: ${message}\n${traces.told(stack)}`.trimEnd(),
        { cause },
      );
    }
  }
}

interface Script {
  readonly code: string;
  readonly traces: StackTraces;
  /** The file's name, for messages. */
  readonly entry: string;
}

function scriptOf({ bytes, about }: Artifact): Script {
  const { code, sourceMap } = splitBundle(Buffer.from(bytes).toString("utf8"));
  return { code, traces: new StackTraces(sourceMap), entry: about["entry"] ?? "the bundle" };
}

/** By the bytes themselves: a store that gives the same ones again, as those of tests do, has them read once. */
const SCRIPTS: WeakMap<Uint8Array, Script> = new WeakMap();
const DECODED: WeakMap<Uint8Array, BaseImage> = new WeakMap();

function read<T>(known: WeakMap<Uint8Array, T>, bytes: Uint8Array, make: () => T): T {
  const value = known.get(bytes) ?? make();
  known.set(bytes, value);
  return value;
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
