// The contract of the store port, as tests: T1 to T7 of store.ts, and what E1 to E7 ask of a store.

import { describe } from "vitest";
import type { StoreContract } from "./store-harness.ts";
import { describeImages } from "./store-images.ts";
import { describeLoads } from "./store-loads.ts";
import { describeProperties } from "./store-properties.ts";
import { describeReader } from "./store-reader.ts";
import { describeStreams } from "./store-streams.ts";
import { describeWrites } from "./store-writes.ts";

/** Declares the tests that every store passes. */
export function describeStore(name: string, contract: StoreContract): void {
  describe(`store contract: ${name}`, () => {
    describeWrites(contract);
    describeLoads(contract);
    describeReader(contract);
    describeStreams(contract);
    describeImages(contract);
    describeProperties(contract);
  });
}
