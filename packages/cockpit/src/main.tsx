// Where the page begins.

import { createRoot } from "react-dom/client";
import { ApiClient } from "./api/client.ts";
import { createQueries, refreshAfterGaps } from "./api/queries.ts";
import { Session } from "./api/session.ts";
import { App } from "./app/app.tsx";
import { loadOtherChunks } from "./app/chunks.ts";
import { createAppRouter } from "./app/routes.tsx";
import { applyTheme } from "./app/theme.ts";
import { beginInPreferred } from "./i18n/languages.ts";
import { listenToKeys } from "./keys/hotkeys.ts";
import { hotkeys } from "./keys/use-hotkeys.ts";
import { createLive } from "./live/create-live.ts";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/controls.css";
import "./styles/pieces.css";
import "./styles/shell.css";

applyTheme(document.documentElement);
listenToKeys(hotkeys, document);

const api = new ApiClient(new Session(sessionStorage));
const live = createLive(api);
const queries = createQueries();
refreshAfterGaps(queries, live);

const stopWaiting = live.stream.state.subscribe(() => {
  if (live.stream.state.get().kind !== "live") return;
  stopWaiting();
  void loadOtherChunks();
});

const root = document.getElementById("app");
if (root === null) throw new Error("index.html has no element #app");
const page = createRoot(root);
const draw = (): void => page.render(<App api={api} live={live} queries={queries} router={createAppRouter()} />);
beginInPreferred().then(draw, draw);
