// All texts that a person reads. English says which there are; a language that lacks one does not compile.
//
// A view has a part of its own, `i18n/<language>/<view>.ts`, which is named here and in `zh/index.ts`.

import { agents } from "./en/agents.ts";
import { approvals } from "./en/approvals.ts";
import { branches } from "./en/branches.ts";
import { common } from "./en/common.ts";
import { form } from "./en/form.ts";
import { overview } from "./en/overview.ts";
import { run } from "./en/run.ts";
import { runs } from "./en/runs.ts";
import { schedules } from "./en/schedules.ts";
import { services } from "./en/services.ts";
import { sql } from "./en/sql.ts";
import { state } from "./en/state.ts";

import { session } from "./en/session.ts";

export const en = {
  agents,
  approvals,
  branches,
  common,
  form,
  overview,
  run,
  runs,
  schedules,
  services,
  session,
  sql,
  state,
};

export type Messages = typeof en;
