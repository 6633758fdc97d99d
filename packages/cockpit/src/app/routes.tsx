// The addresses. Each view is a chunk of its own, loaded when it is first gone to; what is in the address, filters included,
// is all there is to know to show it again.

import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { readAgentsSearch } from "../views/agents/agents-search.ts";
import { readApprovalsSearch } from "../views/approvals/approvals-search.ts";
import { readRunsSearch } from "../views/runs/runs-search.ts";
import { readRunSearch } from "../views/run/run-search.ts";
import { readSchedulesSearch } from "../views/schedules/schedules-search.ts";
import { readServiceSearch, readServicesSearch } from "../views/services/services-search.ts";
import { readSqlSearch } from "../views/sql/sql-search.ts";
import { readStateSearch } from "../views/state/state-search.ts";
import { readSessionSearch } from "../views/session/session-search.ts";
import { chunk } from "./chunks.ts";
import { parseSearch, searchText } from "./search-text.ts";
import { Crashed, NotFound } from "./problem-pages.tsx";
import { Shell } from "./shell.tsx";

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound, errorComponent: Crashed });

const overview = createRoute({
  getParentRoute: () => root,
  path: "/",
  component: lazyRouteComponent(
    chunk(() => import("../views/overview/overview.tsx")),
    "Overview",
  ),
});

const runs = createRoute({
  getParentRoute: () => root,
  path: "/runs",
  validateSearch: readRunsSearch,
  component: lazyRouteComponent(
    chunk(() => import("../views/runs/runs.tsx")),
    "Runs",
  ),
});

const run = createRoute({
  getParentRoute: () => root,
  path: "/runs/$run",
  validateSearch: readRunSearch,
  component: lazyRouteComponent(
    chunk(() => import("../views/run/run-page.tsx")),
    "RunPage",
  ),
});

const services = createRoute({
  getParentRoute: () => root,
  path: "/services",
  validateSearch: readServicesSearch,
  component: lazyRouteComponent(
    chunk(() => import("../views/services/services.tsx")),
    "Services",
  ),
});

const service = createRoute({
  getParentRoute: () => root,
  path: "/services/$service",
  validateSearch: readServiceSearch,
  component: lazyRouteComponent(
    chunk(() => import("../views/services/service-page.tsx")),
    "ServicePage",
  ),
});

const state = createRoute({
  getParentRoute: () => root,
  path: "/state",
  validateSearch: readStateSearch,
  component: lazyRouteComponent(
    chunk(() => import("../views/state/state-page.tsx")),
    "StatePage",
  ),
});

const stateKey = createRoute({
  getParentRoute: () => root,
  path: "/state/$service/$key",
  component: lazyRouteComponent(
    chunk(() => import("../views/state/key-page.tsx")),
    "KeyPage",
  ),
});

const schedules = createRoute({
  getParentRoute: () => root,
  path: "/schedules",
  validateSearch: readSchedulesSearch,
  component: lazyRouteComponent(
    chunk(() => import("../views/schedules/schedules.tsx")),
    "Schedules",
  ),
});

const sql = createRoute({
  getParentRoute: () => root,
  path: "/sql",
  validateSearch: readSqlSearch,
  component: lazyRouteComponent(
    chunk(() => import("../views/sql/sql.tsx")),
    "Sql",
  ),
});

const agents = createRoute({
  getParentRoute: () => root,
  path: "/agents",
  validateSearch: readAgentsSearch,
  component: lazyRouteComponent(
    chunk(() => import("../views/agents/agents.tsx")),
    "Agents",
  ),
});

const session = createRoute({
  getParentRoute: () => root,
  path: "/agents/$agent/$session",
  validateSearch: readSessionSearch,
  component: lazyRouteComponent(
    chunk(() => import("../views/session/session-page.tsx")),
    "SessionPage",
  ),
});

const approvals = createRoute({
  getParentRoute: () => root,
  path: "/approvals",
  validateSearch: readApprovalsSearch,
  component: lazyRouteComponent(
    chunk(() => import("../views/approvals/approvals.tsx")),
    "Approvals",
  ),
});

const routeTree = root.addChildren([
  overview,
  runs,
  run,
  agents,
  session,
  approvals,
  services,
  service,
  state,
  stateKey,
  schedules,
  sql,
]);

// The router's type is the tree of its routes.
export function createAppRouter() {
  return createRouter({
    routeTree,
    basepath: "/ui",
    parseSearch,
    stringifySearch: searchText,
    defaultPreload: "intent",
    scrollRestoration: true,
    defaultErrorComponent: Crashed,
    defaultNotFoundComponent: NotFound,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
