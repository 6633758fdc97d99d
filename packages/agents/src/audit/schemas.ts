// What the audit log takes.

import type { StandardSchema } from "@perdure/sdk";
import * as z from "zod";
import type { AuditEvent, AuditRange } from "./types.ts";

export const PAGE_ENTRIES_DEFAULT: number = 100;
const PAGE_ENTRIES_MAX = 1_000;
/** Room for an agent and its session. */
const NAME_LENGTH_MAX = 2_000;

const name = z.string().min(1).max(NAME_LENGTH_MAX);

export const eventSchema: StandardSchema<AuditEvent> = z.strictObject({
  actor: name,
  action: name,
  subject: name,
  details: z.unknown().exactOptional(),
});

export const rangeSchema: StandardSchema<AuditRange | undefined> = z
  .strictObject({
    from: z.int().min(0).exactOptional(),
    limit: z.int().min(1).max(PAGE_ENTRIES_MAX).exactOptional(),
  })
  .optional();
