import { createMemoryStorage, openMemoryStore } from "./memory-store.ts";
import { describeStore } from "./testing/describe-store.ts";

describeStore("memory", {
  async open() {
    const storage = createMemoryStorage();
    const connect = async () => openMemoryStore(storage);
    return {
      store: openMemoryStore(storage),
      reopen: connect,
      connect,
      async damageImage(hash) {
        const stored = storage.data.imageBytes.get(hash);
        if (stored !== undefined) stored.bytes[0] = (stored.bytes[0] ?? 0) ^ 0xff;
      },
      dispose: async () => undefined,
    };
  },
  capabilities: { sql: false },
});
