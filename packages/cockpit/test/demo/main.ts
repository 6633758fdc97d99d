// What the demo serves.

export { researcher, support, writer } from "./agents.ts";
export { billing, cart, mailer, morning, orders, reminders, reports } from "./shop.ts";
