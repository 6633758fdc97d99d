// Statements to begin with: what people ask first of their runs.

import type { Messages } from "../../i18n/messages.ts";

export interface Example {
  readonly name: keyof Messages["sql"]["examples"];
  readonly statement: string;
}

export const EXAMPLES: readonly Example[] = [
  {
    name: "byStatus",
    statement:
      "SELECT service, handler, status, count(*) AS runs\nFROM runs\nGROUP BY service, handler, status\nORDER BY runs DESC",
  },
  {
    name: "perMinute",
    statement:
      "SELECT created_at / 60000 * 60000 AS started_at, count(*) AS runs\nFROM runs\nGROUP BY started_at\nORDER BY started_at",
  },
  {
    name: "slowest",
    statement:
      "SELECT id, service, handler, finished_at - created_at AS took_ms\nFROM runs\nWHERE finished_at IS NOT NULL\nORDER BY took_ms DESC\nLIMIT 50",
  },
  {
    name: "failures",
    statement:
      "SELECT service, handler, result ->> 'message' AS message, count(*) AS runs, max(finished_at) AS last_at\nFROM runs\nWHERE status = 'failed'\nGROUP BY service, handler, message\nORDER BY runs DESC",
  },
  {
    name: "longest",
    statement:
      "SELECT runs.id, runs.service, runs.handler, count(*) AS entries\nFROM entries JOIN runs ON runs.seq = entries.run\nGROUP BY entries.run\nORDER BY entries DESC\nLIMIT 50",
  },
  {
    name: "state",
    statement:
      "SELECT service, name, count(*) AS keys, sum(length(value)) AS bytes\nFROM state\nGROUP BY service, name\nORDER BY bytes DESC",
  },
];
