// All commands, in the order in which `perdure --help` shows them.

import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { agentsCommand } from "./agents.ts";
import { approvalsCommand } from "./approvals.ts";
import { auditCommand } from "./audit.ts";
import { budgetCommand } from "./budget.ts";
import { callCommand } from "./call.ts";
import { cancelCommand } from "./cancel.ts";
import { chatCommand } from "./chat.ts";
import { completionsCommand } from "./completions.ts";
import { deploymentsCommand } from "./deployments.ts";
import { devCommand } from "./dev.ts";
import { doctorCommand } from "./doctor.ts";
import { exportCommand } from "./export.ts";
import { forkCommand } from "./fork.ts";
import { killCommand } from "./kill.ts";
import { migrateCommand } from "./migrate.ts";
import { momentsCommand } from "./moments.ts";
import { pauseCommand } from "./pause.ts";
import { purgeCommand } from "./purge.ts";
import { rejectCommand } from "./reject.ts";
import { resolveCommand } from "./resolve.ts";
import { restartCommand } from "./restart.ts";
import { resultCommand } from "./result.ts";
import { resumeCommand } from "./resume.ts";
import { rewindCommand } from "./rewind.ts";
import { runsCommand } from "./runs.ts";
import { schedulesCommand } from "./schedules.ts";
import { sendCommand } from "./send.ts";
import { servicesCommand } from "./services.ts";
import { settleCommand } from "./settle.ts";
import { showCommand } from "./show.ts";
import { signalCommand } from "./signal.ts";
import { snapshotCommand } from "./snapshot.ts";
import { sqlCommand } from "./sql.ts";
import { startCommand } from "./start.ts";
import { stateCommand } from "./state.ts";
import { tailCommand } from "./tail.ts";
import { writesCommand } from "./writes.ts";

export interface CommandGroup {
  readonly title: string;
  readonly commands: readonly ((cli: Cli) => Command)[];
}

export const COMMAND_GROUPS: readonly CommandGroup[] = [
  { title: "Serve:", commands: [devCommand, startCommand] },
  {
    title: "Agents:",
    commands: [chatCommand, agentsCommand, approvalsCommand, budgetCommand, writesCommand, auditCommand],
  },
  { title: "Call:", commands: [callCommand, sendCommand, resultCommand] },
  {
    title: "Look:",
    commands: [runsCommand, showCommand, tailCommand, servicesCommand, deploymentsCommand, snapshotCommand, sqlCommand],
  },
  {
    title: "Act on runs:",
    commands: [
      cancelCommand,
      killCommand,
      pauseCommand,
      resumeCommand,
      restartCommand,
      forkCommand,
      rewindCommand,
      migrateCommand,
      momentsCommand,
      settleCommand,
      purgeCommand,
    ],
  },
  { title: "Answer:", commands: [signalCommand, resolveCommand, rejectCommand] },
  {
    title: "Keep house:",
    commands: [stateCommand, schedulesCommand, doctorCommand, exportCommand, completionsCommand],
  },
];
