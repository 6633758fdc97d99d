// The views' doors to what is live.

import { createContext, useContext, useEffect, useEffectEvent, useState, useSyncExternalStore } from "react";
import type { ApiEvent, RunId, RunSummary } from "@perdure/protocol";
import type { EventStream } from "./event-stream.ts";
import type { LiveState } from "./follower.ts";
import type { LiveStore } from "./live-store.ts";

export interface Live {
  readonly store: LiveStore;
  readonly stream: EventStream;
}

export const LiveContext = createContext<Live | null>(null);

export function useLive(): Live {
  const live = useContext(LiveContext);
  if (live === null) throw new Error("there is no live store around this view");
  return live;
}

export function useLiveState(): LiveState {
  const { stream } = useLive();
  return useSyncExternalStore(stream.state.subscribe, stream.state.get);
}

/** The newest that is known of a run: `read` from the API, or what the events told since. */
export function useLiveRun<Known extends RunSummary>(read: Known): Known | (RunSummary & Partial<Known>) {
  const { store } = useLive();
  const told = useSyncExternalStore(store.subscribe, () => store.run(read.id));
  return told === undefined || told.changedAt < read.changedAt ? read : { ...read, ...told };
}

/** The events of each frame, before it is drawn. */
export function useLiveEvents(onEvents: (events: readonly ApiEvent[]) => void): void {
  const { store } = useLive();
  const tell = useEffectEvent(onEvents);
  useEffect(() => store.onFrame((events) => tell(events)), [store]);
}

/** Changes of the store, at most every `ms`: for what is too dear to be done each frame. */
export function useLiveVersion(ms: number): number {
  const { store } = useLive();
  const [version, setVersion] = useState(store.version);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const unsubscribe = store.subscribe(() => {
      timer ??= setTimeout(() => {
        timer = undefined;
        setVersion(store.version());
      }, ms);
    });
    return () => {
      unsubscribe();
      clearTimeout(timer);
    };
  }, [store, ms]);
  return version;
}

export function useDeletedRuns(): ReadonlySet<RunId> {
  const { store } = useLive();
  return useSyncExternalStore(store.subscribe, store.deleted);
}

/** Called whenever the connection is back after it was lost. */
export function useReturn(onReturn: () => void): void {
  const { stream } = useLive();
  const tell = useEffectEvent(onReturn);
  useEffect(() => {
    let wasLost = stream.state.get().kind === "reconnecting";
    return stream.state.subscribe(() => {
      const { kind } = stream.state.get();
      if (kind === "live" && wasLost) tell();
      wasLost = kind === "reconnecting";
    });
  }, [stream]);
}
