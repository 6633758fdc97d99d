// A day at the demo's shop: orders that went well, some that did not, and agents at work.

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Server } from "../support/server.ts";
import { ageFinishedRuns, seeded } from "./age.ts";
import { REFUND_TASK } from "./words.ts";

const DEMO: string = fileURLToPath(new URL("./main.ts", import.meta.url));
const ORDERS = 260;
const AT_ONCE = 16;
const WAIT_MS_MAX = 60_000;

export interface Demo {
  readonly server: Server;
  /** A run with a timeline to look at. */
  readonly report: string;
  readonly order: string;
  readonly session: string;
  /** A question of the session. */
  readonly approval: string;
}

/** @returns while everything that is to be seen goes on. */
export async function startDemo(): Promise<Demo> {
  const server = await Server.start({ files: [DEMO] });
  await history(server);
  await server.stop();
  ageFinishedRuns(join(server.folder, "store"), Date.now());
  await server.startAgain();

  const report = await server.send("reports/monthly", { month: "2026-02" });
  await server.send("researcher/batteries/send", { text: "Which maker of solid-state batteries will ship first?" });
  await server.send("support/desk/send", { text: REFUND_TASK });
  for (const [at, name] of ["ada", "grace", "alan"].entries()) {
    await server.call(`cart/${name}/add`, { sku: `lamp-${at + 1}`, count: at + 1, price: 24.5 });
    await server.call(`cart/${name}/add`, { sku: "bulb", count: 4, price: 3.2 });
  }
  await server.send("billing/charge", { order: "5093", amount: 74 });
  await server.send("mailer/send", { to: "kim@slow.example", template: "order-shipped" });
  await server.send("mailer/send", { to: "lee@slow.example", template: "order-confirmed" });
  await server.send("mailer/send", { to: "joan@gone.example", template: "order-confirmed" });
  const order = await server.send("cart/ada/checkout", { id: "5101", to: "ada@shop.example" });
  await Promise.all([
    until(async () => (await count(server, "/approvals?status=open", "approvals")) === 2, "two questions"),
    until(async () => (await server.statusOf(report)) === "suspended", "the report to wait"),
    until(async () => (await count(server, "/runs?status=paused", "runs")) === 1, "a paused run"),
    until(async () => (await count(server, "/runs?status=retrying", "runs")) === 2, "retries"),
  ]);
  await server.send("researcher/heat-pumps/send", { text: "Compare the three heat pump subsidies" });
  const { approvals } = await server.get<{
    readonly approvals: readonly { readonly id: string; readonly agent: string }[];
  }>("/approvals?status=open");
  const approval = approvals.find(({ agent }) => agent === "researcher")?.id ?? "";
  return { server, report, order, session: "support/desk", approval };
}

async function history(server: Server): Promise<void> {
  const random = seeded(3);
  const jobs = Array.from({ length: ORDERS }, (_, at) => async (): Promise<void> => {
    const id = String(4_800 + at);
    const dice = random();
    if (dice < 0.008)
      await server.call("mailer/send", mail(`joan${at}@gone.example`)).catch(() => undefined); // It is to fail.
    else if (dice < 0.3) await server.call("mailer/send", mail(`user${at}@shop.example`));
    else
      await server.call("orders/place", { id, amount: 20 + Math.floor(random() * 180), to: `user${at}@shop.example` });
  });
  const worker = async (): Promise<void> => {
    for (let job = jobs.pop(); job !== undefined; job = jobs.pop()) await job();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  await server.call("support/kim/send", { text: "Where is my parcel 8123?" });
  await until(async () => (await count(server, "/runs?status=running,queued,suspended", "runs")) === 0, "all to end");
}

const mail = (to: string): object => ({ to, template: "order-confirmed" });

async function count(server: Server, path: string, name: string): Promise<number> {
  return (await server.get<Record<string, readonly unknown[]>>(path))[name]?.length ?? 0;
}

async function until(isSo: () => Promise<boolean>, what: string): Promise<void> {
  const deadline = Date.now() + WAIT_MS_MAX;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
