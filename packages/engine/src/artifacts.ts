// The artifact port: bytes that runs and images cannot do without
// ===============================================================
// The code of a deployment (`bundle`), and the heap with that code loaded that images are differences to (`base`). They are
// named by the SHA-256 of their bytes, and never change.
//
// R1. When `put` is fulfilled the artifact is durable.
// R2. `get` gives exactly the bytes of that hash, or rejects with StoreDamagedError naming the artifact. Never other bytes.
// R3. An artifact is there as long as a run has it as its `deployment` or an image as its `base`, and as long as the process
//     lives that has put or got it. Others are collected some time.

export type ArtifactKind = "bundle" | "base";

export interface Artifact {
  readonly kind: ArtifactKind;
  readonly bytes: Uint8Array;
  /** What people want to know of it; as it was first put. */
  readonly about: Readonly<Record<string, string>>;
}

export interface ArtifactInfo extends Omit<Artifact, "bytes"> {
  readonly hash: string;
  readonly size: number;
}

export interface Artifacts {
  /** The hash. */
  put(kind: ArtifactKind, bytes: Uint8Array, about: Readonly<Record<string, string>>): Promise<string>;
  /** `null`: there is none. @throws StoreDamagedError */
  get(hash: string): Promise<Artifact | null>;
  /** In order of hash. */
  list(): Promise<readonly ArtifactInfo[]>;
}
