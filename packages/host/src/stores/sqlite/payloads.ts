// Large payloads: which of a commit's payloads go to the blob store, and how they come back.

import { type Command, type Entry, type Payload, payloadSize, type Result, StoreDamagedError } from "@perdure/protocol";
import type { BlobHash, BlobStore, Mutation } from "@perdure/engine";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { ReadyBlobs } from "./blob-refs.ts";
import type { Cell, CellReader } from "./cells.ts";

/** The payloads of a batch above `inlineMax`; null where there are none, which is nearly always. */
export function largePayloads(mutations: readonly Mutation[], inlineMax: number): Payload[] | null {
  let found: Payload[] | null = null;
  const take = (payload: Payload | null | undefined): void => {
    if (payloadSize(payload) <= inlineMax || payload === null || payload === undefined) return;
    (found ??= []).push(payload);
  };
  for (const mutation of mutations) {
    switch (mutation.type) {
      case "appendEntry":
        entryPayloads(mutation.entry, take);
        break;
      case "insertRun":
        take(mutation.run.input);
        resultPayload(mutation.run.result, take);
        break;
      case "updateRun":
        resultPayload(mutation.run.result, take);
        break;
      case "appendStream":
        for (const item of mutation.items) take(item);
        break;
      case "addImage":
        take(mutation.bytes);
        break;
      case "setState":
        take(mutation.value);
        break;
      case "setPromise":
        resultPayload(mutation.result, take);
        break;
      default:
        break;
    }
  }
  return found;
}

type Take = (payload: Payload | null | undefined) => void;

function resultPayload(result: Result | null | undefined, take: Take): void {
  if (result?.kind === "value") take(result.value);
}

function entryPayloads(entry: Entry, take: Take): void {
  switch (entry.kind) {
    case "command":
      if (entry.kept === undefined) resultPayload(entry.result, take);
      return commandPayloads(entry.command, take);
    case "completion":
      return entry.kept === undefined ? resultPayload(entry.result, take) : undefined;
    case "signal":
      return resultPayload(entry.payload, take);
    case "resumed":
      return resultPayload(entry.migrated?.state, take);
    case "retry":
      return;
  }
}

function commandPayloads(command: Command, take: Take): void {
  switch (command.type) {
    case "call":
    case "send":
      return take(command.input);
    case "setState":
      return take(command.value);
    case "completePromise":
    case "completeAwakeable":
      return resultPayload(command.completion, take);
    case "sendSignal":
      return resultPayload(command.payload, take);
    default:
      return;
  }
}

/** Makes the payloads durable, so that a commit may name them (C1). */
export async function putPayloads(blobs: BlobStore, payloads: readonly Payload[]): Promise<ReadyBlobs> {
  const ready = new Map<Payload, BlobHash>();
  await Promise.all(
    [...new Set(payloads)].map(async (payload) => {
      ready.set(payload, await blobs.put(typeof payload === "string" ? Buffer.from(payload, "utf8") : payload));
    }),
  );
  return ready;
}

/**
 * Payloads of one load. Rows are decoded synchronously; a blob that is not at hand is noted, fetched afterwards, and the
 * load is done once more, which then sees one state of the store again (T3).
 */
export class LoadedPayloads implements CellReader {
  readonly #find: StatementSync;
  readonly #content = new Map<BlobHash, Uint8Array>();
  readonly #missing = new Set<BlobHash>();
  readonly #absent = new Set<BlobHash>();
  /** Blobs that are missed without a failure, and what was wrong with them. */
  readonly #lenient = new Set<BlobHash>();
  readonly #broken = new Map<BlobHash, string>();

  constructor(find: StatementSync) {
    this.#find = find;
  }

  read(cell: Cell): Payload {
    if (typeof cell === "string" || cell instanceof Uint8Array) return cell;
    const row = this.#find.get(cell) as unknown as readonly [BlobHash, number] | undefined;
    if (row === undefined)
      throw new StoreDamagedError(`the data names the large payload ${cell}, which the table blobs does not have`);
    const [hash, text] = row;
    const bytes = this.#content.get(hash);
    if (bytes === undefined) {
      this.#missing.add(hash);
      return "";
    }
    return text === 1
      ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8")
      : new Uint8Array(bytes);
  }

  /**
   * The bytes of an image or artifact, or what is wrong with them: the blob store's word is no reason to fail the load. Empty
   * where they have to be fetched first.
   */
  readBytes(cell: Cell): Uint8Array | string {
    if (cell instanceof Uint8Array) return cell;
    if (typeof cell !== "number") return "its bytes are not bytes";
    const row = this.#find.get(cell) as unknown as readonly [BlobHash, number] | undefined;
    if (row === undefined) return `its bytes are the large payload ${cell}, which the table blobs does not have`;
    const [hash] = row;
    const broken = this.#broken.get(hash);
    if (broken !== undefined) return broken;
    this.#lenient.add(hash);
    const bytes = this.#content.get(hash);
    if (bytes !== undefined) return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#missing.add(hash);
    return new Uint8Array(0);
  }

  get complete(): boolean {
    return this.#missing.size === 0;
  }

  /**
   * A blob that is not there the first time may have been collected since its row was read: the next try will not ask
   * for it again. @throws StoreDamagedError where it is asked for again, and still not there.
   */
  async fetch(blobs: BlobStore): Promise<void> {
    const missing = [...this.#missing];
    this.#missing.clear();
    const contents = await Promise.all(missing.map((hash) => this.#get(blobs, hash)));
    missing.forEach((hash, i) => {
      const bytes = contents[i] ?? null;
      if (bytes !== null) this.#content.set(hash, bytes);
      else if (this.#broken.has(hash)) return;
      else if (this.#absent.has(hash) && this.#lenient.has(hash))
        this.#broken.set(hash, `the blob ${hash} with its bytes is missing`);
      else if (this.#absent.has(hash))
        throw new StoreDamagedError(`the blob ${hash} is missing, and with it a payload that the data names`);
      else this.#absent.add(hash);
    });
  }

  async #get(blobs: BlobStore, hash: BlobHash): Promise<Uint8Array | null> {
    if (!this.#lenient.has(hash)) return blobs.get(hash);
    return blobs.get(hash).catch((error: unknown) => {
      if (!(error instanceof StoreDamagedError)) throw error;
      this.#broken.set(hash, error.message);
      return null;
    });
  }
}

export function prepareBlobLookup(db: DatabaseSync): StatementSync {
  const find = db.prepare("SELECT hash, text FROM blobs WHERE id = ?");
  find.setReturnArrays(true);
  return find;
}
