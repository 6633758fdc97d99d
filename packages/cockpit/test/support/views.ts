// One thing of every kind, and the address of every view of it: what the tests of all views go through.

import { eventually } from "./world.ts";
import type { Server } from "./server.ts";

/** The service's own words; a test of hostile texts brings others. */
export interface Words {
  /** For names: of steps, keys, sessions, states. */
  readonly name: string;
  /** For values, results, messages, reasons. */
  readonly text: string;
}

export interface Seeded {
  readonly waiting: string;
  readonly paused: string;
  readonly failed: string;
  readonly told: string;
  readonly tree: string;
  /** It took another way than its journal. */
  readonly drifted: string;
  /** It has an image, with a name. */
  readonly imaged: string;
  readonly moment: number;
  readonly fork: string;
  readonly turn: string;
  readonly approval: string;
  readonly session: string;
}

/** Over the desk, the keeper and the research example with an obedient model. */
export async function seed(server: Server, { name, text }: Words): Promise<Seeded> {
  const key = encodeURIComponent(name);
  const [waiting, paused, failed, told, tree, drifted, imaged] = await Promise.all([
    server.send("desk/waits", { before: name }),
    server.send("desk/pauses", { name, message: text }),
    server.send("desk/fails", { message: text }),
    server.send("desk/echo", { name, value: { [name]: text, list: [text, 1, null], deep: { deeper: { text } } } }),
    server.send("desk/trunk", { name }),
    server.send("desk/drifts", { recorded: name, now: `${name} ${text}` }),
    server.send(`keeper/${key}/listen`),
  ]);
  await server.call(`shelf/${key}/put`, { name, value: { text } });
  for (let holder = 0; holder < 2; holder += 1) await server.send(`shelf/${key}/hold`); // One queues behind the other.
  await server.send("desk/steps", { count: 3, value: text });
  await server.call(`researcher/${key}/send`, { text: `${text} — search` });
  const turn = await server.send(`researcher/${key}/send`, { text: `${text} — publish` });
  await server.call("desk/plan", { name, text });
  await eventually(() => server.statusOf(paused), "paused");
  await eventually(() => server.statusOf(failed), "failed");
  await eventually(async () => (await openApprovals(server)).length, 1);
  const [approval = ""] = await openApprovals(server);
  await diverge(server, drifted);
  const moment = await firstImage(server, imaged);
  await server.patch(`/runs/${imaged}/moments/${moment}`, { name });
  const { runId: fork } = await server.post<{ readonly runId: string }>(`/runs/${imaged}/fork`, { at: moment });
  return { waiting, paused, failed, told, tree, drifted, imaged, moment, fork, turn, approval, session: name };
}

/** A run of `desk/drifts` is replayed. */
export async function diverge(server: Server, run: string): Promise<void> {
  await eventually(() => server.statusOf(run), "suspended");
  await server.post(`/runs/${run}/pause`);
  await server.post(`/runs/${run}/resume`);
  await eventually(() => server.statusOf(run), "paused");
}

/** The entry of the newest image, once there is one that has seen as much. */
export async function firstImage(server: Server, run: string, from = 1): Promise<number> {
  const moments = async (): Promise<readonly { readonly entry: number }[]> =>
    (await server.get<{ readonly moments: readonly { readonly entry: number }[] }>(`/runs/${run}/moments`)).moments;
  await eventually(async () => ((await moments()).at(-1)?.entry ?? 0) >= from, true);
  return (await moments()).at(-1)?.entry ?? 0;
}

async function openApprovals(server: Server): Promise<readonly string[]> {
  const { approvals } = await server.get<{ readonly approvals: readonly { readonly id: string }[] }>(
    "/approvals?status=open",
  );
  return approvals.map(({ id }) => id);
}

const segment = (text: string): string => encodeURIComponent(text);

export interface View {
  readonly name: string;
  readonly path: (seeded: Seeded) => string;
  /** In the page when it is all there. */
  readonly sign: string;
}

export const VIEWS: readonly View[] = [
  { name: "overview", path: () => "/", sign: ".lines .line" },
  { name: "runs", path: () => "/runs?own=shown", sign: ".virtual-row" },
  { name: "runs that need somebody", path: () => "/runs?status=paused,failed", sign: ".virtual-row" },
  { name: "a search that finds nothing", path: () => "/runs?service=nobody", sign: ".state" },
  { name: "a run that waits", path: ({ waiting }) => `/runs/${waiting}`, sign: ".waits" },
  { name: "a run that is paused", path: ({ paused }) => `/runs/${paused}?entry=1`, sign: ".entry" },
  { name: "a run that failed", path: ({ failed }) => `/runs/${failed}`, sign: ".failure" },
  { name: "an entry", path: ({ told }) => `/runs/${told}?entry=1&scale=compact`, sign: ".entry .payload" },
  { name: "input and result", path: ({ told }) => `/runs/${told}?tab=data`, sign: ".run-data .payload" },
  { name: "a divergence", path: ({ drifted }) => `/runs/${drifted}`, sign: ".divergence" },
  { name: "a moment", path: ({ imaged, moment }) => `/runs/${imaged}?entry=${moment}`, sign: ".entry .moment" },
  { name: "a fork", path: ({ fork }) => `/runs/${fork}`, sign: ".facts a[title^=run_]" },
  { name: "a tree", path: ({ tree }) => `/runs/${tree}?tab=children`, sign: ".tree-row" },
  { name: "a key's state", path: ({ turn }) => `/runs/${turn}?tab=state`, sign: ".run-data .payload" },
  { name: "a turn of an agent", path: ({ turn }) => `/runs/${turn}`, sign: ".waits" },
  { name: "agents", path: () => "/agents", sign: ".agents-page [role=row] a, .agents-page tbody a" },
  { name: "a session", path: ({ session }) => `/agents/researcher/${segment(session)}`, sign: ".tool-call" },
  {
    name: "a session's transcript",
    path: ({ session }) => `/agents/researcher/${segment(session)}?tab=transcript`,
    sign: ".transcript-item",
  },
  {
    name: "a session's details",
    path: ({ session }) => `/agents/researcher/${segment(session)}?tab=details`,
    sign: ".session-aside .usage",
  },
  { name: "approvals", path: ({ approval }) => `/approvals?id=${approval}`, sign: ".inbox-detail" },
  { name: "answered approvals", path: () => "/approvals?tab=closed", sign: ".state" },
  { name: "the audit log", path: () => "/approvals?tab=audit", sign: ".audit-table tbody tr" },
  { name: "services", path: () => "/services?own=shown", sign: ".service-row" },
  { name: "a service", path: () => "/services/desk?handler=echo", sign: ".handler" },
  { name: "state", path: () => "/state?service=shelf", sign: ".state-row" },
  {
    name: "the state of a key",
    path: ({ session }) => `/state/shelf/${segment(session)}`,
    sign: ".panel .payload",
  },
  { name: "schedules", path: () => "/schedules", sign: ".schedule-table tbody .row-button" },
  {
    name: "an answer of SQL",
    path: () => `/sql?q=${encodeURIComponent("SELECT * FROM runs ORDER BY seq DESC LIMIT 40")}`,
    sign: ".result-row",
  },
  { name: "SQL", path: () => "/sql", sign: ".sql-examples" },
  { name: "an address without a page", path: () => "/nowhere", sign: ".state" },
];
