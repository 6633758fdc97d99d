// The demo's services: a shop whose mail server and card network have a bad day.

import { handler, object, schedule, service, TerminalError } from "perdure";
import { z } from "zod";
import { support } from "./agents.ts";

const working = <Value>(ms: number, value: Value): Promise<Value> =>
  new Promise((done) => setTimeout(() => done(value), ms));

export const mailer = service("mailer", {
  async send(ctx, mail: { readonly to: string; readonly template: string }) {
    const html = await ctx.step("render", () => working(40, `<${mail.template}>`));
    if (mail.to.endsWith("@slow.example")) throw new Error("421 4.7.0 mx.slow.example: try again later");
    return ctx.step("smtp", () => deliver(mail.to, html.length));
  },
});

async function deliver(to: string, size: number): Promise<{ readonly id: string; readonly size: number }> {
  await working(60, null);
  if (to.endsWith("@gone.example")) throw new TerminalError("550 5.1.1 no such mailbox", { status: 422 });
  return { id: `<${to.length * 7919}@shop.example>`, size };
}

export const billing = service("billing", {
  async charge(ctx, payment: { readonly order: string; readonly amount: number }) {
    const token = await ctx.step("tokenize card", () => working(90, "tok_9f2c"));
    return ctx.step("charge card", () => chargeCard(payment.order, token), {
      retry: { initial: "20ms", maxAttempts: 3 },
    });
  },
});

async function chargeCard(order: string, token: string): Promise<{ readonly receipt: string; readonly token: string }> {
  await working(120, null);
  if (order === "5093") throw new Error("card network answered 503: issuer unavailable");
  return { receipt: `rc_${order}`, token };
}

const Order = z.object({
  id: z.string().describe("As the shop numbers them"),
  amount: z.number().positive().describe("In euros"),
  to: z.email(),
});

export const orders = service("orders", {
  place: handler({ input: Order }, async (ctx, order) => {
    const stock = await ctx.step("reserve stock", () => working(70, { shelf: "B-12", items: 2 }));
    const receipt = await ctx.call(billing).charge({ order: order.id, amount: order.amount });
    await ctx.step("print label", () => working(50, { carrier: "parcel", stock }));
    void ctx.send(mailer).send({ to: order.to, template: "order-confirmed" });
    return receipt;
  }),
});

let failures = 0;

/** One that has all there is to see in a timeline. */
export const reports = service("reports", {
  async monthly(ctx, input: { readonly month: string }) {
    const regions = ["north", "south", "west"];
    const sales = await Promise.all(
      regions.map((region, at) =>
        ctx.step(`sales ${region}`, () => working(420 + at * 330, { region, orders: 1_200 + at * 71 })),
      ),
    );
    await ctx.step("exchange rates", () => rates(), { retry: { initial: "600ms", maxAttempts: 6 } });
    await ctx.sleep("2s", "until the books are closed");
    const parts = await Promise.all(regions.map((region) => ctx.call(reports).chapter({ region, month: input.month })));
    await ctx.step("typeset", () => working(640, { pages: parts.length * 4 }));
    return ctx.signal<string>("signed off").then((by) => ({ month: input.month, sales, by }));
  },

  async chapter(ctx, input: { readonly region: string; readonly month: string }) {
    await ctx.step("query", () => working(380, 48));
    await ctx.step("chart", () => working(520, "chart.svg"));
    if (input.region === "west") await ctx.step("currency notes", () => working(900, 3));
    return `${input.region} in ${input.month}`;
  },
});

async function rates(): Promise<{ readonly eur: number }> {
  await working(160, null);
  failures += 1;
  if (failures < 3) throw new Error("rates.example: 504 gateway timeout");
  return { eur: 1.09 };
}

export const cart = object("cart", {
  async add(ctx, item: { readonly sku: string; readonly count: number; readonly price: number }) {
    const items = (await ctx.get<object[]>("items")) ?? [];
    ctx.set("items", [...items, item]);
    ctx.set("total", ((await ctx.get<number>("total")) ?? 0) + item.count * item.price);
    return items.length + 1;
  },

  async checkout(ctx, input: { readonly id: string; readonly to: string }) {
    const amount = (await ctx.get<number>("total")) ?? 0;
    return ctx.call(orders).place({ id: input.id, amount, to: input.to });
  },
});

export const morning = schedule("morning digest", {
  cron: "0 7 * * 1-5",
  timeZone: "Europe/Berlin",
  target: reports,
  handler: "monthly",
  input: { month: "2026-03" },
});

export const reminders = schedule("remind of open questions", {
  every: "30m",
  target: support,
  key: "desk",
  handler: "send",
  input: { text: "Where is my parcel 8123?" },
  paused: true,
});
