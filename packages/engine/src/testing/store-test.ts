// A test on an empty store, disposed of afterwards.

import type { Store } from "../store.ts";
import { test } from "vitest";
import { type OpenedStore, type StoreContract, Writer } from "./store-harness.ts";

interface StoreScene {
  readonly opened: OpenedStore;
  readonly writer: Writer;
  reopen(): Promise<Store>;
  readonly connect: (() => Promise<Store>) | undefined;
}

export type StoreTest = (name: string, body: (scene: StoreScene) => Promise<void>) => void;

export function storeTest(contract: StoreContract): StoreTest {
  return (name, body) => {
    test(name, async () => {
      const opened = await contract.open();
      try {
        const writer = await Writer.on(opened.store);
        await body({ opened, writer, reopen: () => opened.reopen(), connect: opened.connect?.bind(opened) });
      } finally {
        await opened.dispose();
      }
    });
  };
}
