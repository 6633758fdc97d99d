// All texts in Chinese. Loaded by those who read it.

import type { Messages } from "../messages.ts";
import { agents } from "./agents.ts";
import { approvals } from "./approvals.ts";
import { branches } from "./branches.ts";
import { common } from "./common.ts";
import { form } from "./form.ts";
import { overview } from "./overview.ts";
import { run } from "./run.ts";
import { runs } from "./runs.ts";
import { schedules } from "./schedules.ts";
import { services } from "./services.ts";
import { sql } from "./sql.ts";
import { state } from "./state.ts";
import { session } from "./session.ts";

export const zh: Messages = {
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
