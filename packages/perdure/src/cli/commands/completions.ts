// perdure completions: scripts that teach a shell the commands and options.

import { Argument, type Command } from "commander";
import { jsonCommand, type Cli } from "../cli.ts";
import { completionScript, SHELLS, type Shell } from "../completion-scripts.ts";

export function completionsCommand(cli: Cli): Command {
  return jsonCommand("completions", "print a completion script: source <(perdure completions bash)")
    .addArgument(new Argument("<shell>", "the shell").choices(SHELLS))
    .action((shell: Shell, options: { readonly json?: boolean }, command: Command) => {
      const script = completionScript(shell, command.parent ?? command);
      const out = cli.output(options);
      if (out.json) out.document({ shell, script });
      else out.raw(script);
    });
}
