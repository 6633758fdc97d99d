import { describeStore } from "@perdure/engine/testing";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteStore } from "./open.ts";
import { damageBytes } from "./testing/scratch.ts";

const INLINE_MAX = 4_096;

describeStore("sqlite", {
  async open() {
    const directory = mkdtempSync(join(tmpdir(), "perdure-store-"));
    const open = () => openSqliteStore({ directory, payloadInlineMax: INLINE_MAX });
    let store = await open();
    return {
      store,
      async reopen() {
        await store.close();
        return (store = await open());
      },
      damageImage: async (hash) => damageBytes(directory, "image_bytes", hash),
      async dispose() {
        await store.close();
        rmSync(directory, { recursive: true });
      },
    };
  },
  capabilities: { sql: true },
  largePayloadBytes: INLINE_MAX,
});
