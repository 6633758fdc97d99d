// How answers of the API are kept: for a moment, and anew when events were missed.

import { QueryClient } from "@tanstack/react-query";
import type { Live } from "../live/use-live.ts";
import { NetworkFailure } from "./client.ts";

const FRESH_MS = 2_000;
const RETRIES_MAX = 3;
const RETRY_MS = 300;

export function createQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: FRESH_MS,
        networkMode: "always", // The server is on this machine more often than not.
        refetchOnWindowFocus: false,
        retry: (failures, error) => error instanceof NetworkFailure && failures < RETRIES_MAX,
        retryDelay: (failures) => RETRY_MS * 2 ** failures,
      },
      mutations: { networkMode: "always" },
    },
  });
}

/** What was read before the connection was lost, or before events were missed, is read again. */
export function refreshAfterGaps(queries: QueryClient, { store, stream }: Live): void {
  let epoch = store.epoch();
  let wasLost = false;
  const isFollowed = (key: readonly unknown[]): boolean => key[0] === "runs" || key[1] === "seed";
  // The pages of the runs begin anew by themselves; reading a hundred of them again would be of no use. What could not be read
  // at all is another matter.
  const refresh = (): void =>
    void queries.invalidateQueries({
      predicate: ({ queryKey, state }) => !isFollowed(queryKey) || state.status === "error",
    });
  store.subscribe(() => {
    if (store.epoch() === epoch) return;
    epoch = store.epoch();
    refresh();
  });
  stream.state.subscribe(() => {
    const { kind } = stream.state.get();
    if (kind === "live" && wasLost) refresh();
    if (kind === "live") wasLost = false;
    if (kind === "reconnecting") wasLost = true;
  });
}
