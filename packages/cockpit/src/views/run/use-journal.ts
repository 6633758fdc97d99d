import { useEffect, useMemo, useSyncExternalStore } from "react";
import type { RunId } from "@perdure/protocol";
import { useApi } from "../../app/app-context.ts";
import { useLive } from "../../live/use-live.ts";
import { JournalReader, type JournalState } from "./journal-reader.ts";

/** A run's whole journal, followed as long as it is shown. */
export function useJournal(run: RunId): JournalState {
  const api = useApi();
  const { store } = useLive();
  const reader = useMemo(() => new JournalReader(api, run), [api, run]);
  useEffect(() => {
    const unsubscribe = store.onFrame((events) => reader.take(events));
    void reader.read();
    return () => {
      unsubscribe();
      reader.stop();
    };
  }, [reader, store]);
  return useSyncExternalStore(reader.subscribe, reader.state);
}
