// All that the views stand on: the API, what is live, the queries, the router; or the sign-in page in their stead.

import { QueryClientProvider, type QueryClient } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { useEffect, useSyncExternalStore, type ReactNode } from "react";
import type { ApiClient } from "../api/client.ts";
import { useLanguage } from "../i18n/use-messages.ts";
import { LiveContext, type Live } from "../live/use-live.ts";
import { ApiContext } from "./app-context.ts";
import type { createAppRouter } from "./routes.tsx";
import { SignIn } from "./sign-in.tsx";

export interface AppProps {
  readonly api: ApiClient;
  readonly live: Live;
  readonly queries: QueryClient;
  readonly router: ReturnType<typeof createAppRouter>;
}

export function App({ api, live, queries, router }: AppProps): ReactNode {
  const { session } = api;
  const state = useSyncExternalStore(session.state.subscribe, session.state.get);
  const language = useLanguage();
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  const isClosed = state.kind === "closed";
  useEffect(() => {
    if (isClosed) {
      live.stream.stop();
      queries.clear(); // Of whoever was signed in.
      return undefined;
    }
    live.stream.start();
    return undefined;
  }, [isClosed, live, queries]);
  if (isClosed) return <SignIn session={session} refused={state.refused} />;
  return (
    <ApiContext value={api}>
      <LiveContext value={live}>
        <QueryClientProvider client={queries}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </LiveContext>
    </ApiContext>
  );
}
