// All commands, in the order in which `perdure --help` shows them.

import type { MakeCommand } from "../cli.ts";
import { callCommand } from "./call.ts";
import { devCommand } from "./dev.ts";
import { sendCommand } from "./send.ts";
import { startCommand } from "./start.ts";

export interface CommandGroup {
  readonly title: string;
  readonly commands: readonly MakeCommand[];
}

export const COMMAND_GROUPS: readonly CommandGroup[] = [
  { title: "Serve:", commands: [devCommand, startCommand] },
  { title: "Call:", commands: [callCommand, sendCommand] },
];
