import { createMemoryStorage, openMemoryStore } from "./memory-store.ts";
import { describeStore } from "./testing/describe-store.ts";

describeStore("memory", {
  async open() {
    const storage = createMemoryStorage();
    const connect = async () => openMemoryStore(storage);
    return { store: openMemoryStore(storage), reopen: connect, connect, dispose: async () => undefined };
  },
  capabilities: { sql: false },
});
