// The pages of the sidebar, the palette and the keys `g …`: a view that is added has a row here and a route in routes.tsx.

import {
  Bot,
  Boxes,
  CalendarClock,
  Database,
  Gauge,
  ListTree,
  ShieldQuestion,
  SquareTerminal,
  type LucideIcon,
} from "lucide-react";
import type { Messages } from "../i18n/messages.ts";

export interface Page {
  readonly to: string;
  readonly name: keyof Messages["common"]["nav"];
  readonly icon: LucideIcon;
  /** After `g`. */
  readonly key: string;
}

export const PAGES: readonly Page[] = [
  { to: "/", name: "overview", icon: Gauge, key: "o" },
  { to: "/runs", name: "runs", icon: ListTree, key: "r" },
  { to: "/agents", name: "agents", icon: Bot, key: "a" },
  { to: "/approvals", name: "approvals", icon: ShieldQuestion, key: "p" },
  { to: "/schedules", name: "schedules", icon: CalendarClock, key: "c" },
  { to: "/services", name: "services", icon: Boxes, key: "s" },
  { to: "/state", name: "state", icon: Database, key: "t" },
  { to: "/sql", name: "sql", icon: SquareTerminal, key: "q" },
];
