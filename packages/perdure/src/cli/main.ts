// The command line as a function: arguments and surroundings in, exit code out.

import { Command, CommanderError } from "commander";
import { editDistance } from "@perdure/sdk";
import { Cli } from "./cli.ts";
import { COMMAND_GROUPS } from "./commands/index.ts";
import { CHILD_COMMAND } from "./dev/messages.ts";
import { reportError } from "./error-report.ts";
import { UsageError } from "./errors.ts";
import { EXIT, EXIT_MEANINGS, type ExitCode } from "./exit-codes.ts";
import type { Io } from "./io.ts";
import { VERSION } from "../version.ts";

/** Of help, where there is no terminal. */
const HELP_WIDTH = 100;

export async function main(args: readonly string[], io: Io): Promise<ExitCode> {
  if (args[0] === CHILD_COMMAND) {
    // Loaded only here: commands that talk to a runtime do not need one of their own.
    const { serveAsChild } = await import("./dev/child.ts");
    return serveAsChild(io);
  }
  const cli = new Cli(io);
  const program = makeProgram(cli, args.includes("--json"));
  try {
    if (args.length === 0) {
      program.outputHelp();
      return EXIT.ok;
    }
    checkName(program, args);
    await program.parseAsync([...args], { from: "user" });
    return cli.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage; // It has been printed.
    return reportError(error, io, args.includes("--json"));
  }
}

function makeProgram(cli: Cli, json: boolean): Command {
  const { io } = cli;
  const program = new Command("perdure")
    .description("Durable agents: runs that go on where they were.")
    .version(VERSION, "-v, --version", "print the version")
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      outputError: (text, write) => write(json ? usageJson(text) : text.replace(/^error: /, "perdure: ")),
      getOutHelpWidth: () => io.stdout.columns ?? HELP_WIDTH,
    })
    .exitOverride()
    .showSuggestionAfterError()
    .addHelpText(
      "after",
      () =>
        `\nExit codes:\n${EXIT_MEANINGS.map(([code, meaning]) => `  ${String(code).padStart(3)}  ${meaning}`).join("\n")}`,
    );
  for (const { title, commands } of COMMAND_GROUPS) {
    program.commandsGroup(title);
    for (const make of commands) inheritSettings(program, make(cli));
  }
  program.commandsGroup("Help:").helpCommand("help [command]", "help for a command");
  return program;
}

function usageJson(text: string): string {
  const message = text.replace(/^error: /, "").trim();
  return `${JSON.stringify({ error: { message, exit: EXIT.usage } })}\n`;
}

function inheritSettings(parent: Command, command: Command): void {
  command.copyInheritedSettings(parent);
  for (const child of command.commands) inheritSettings(command, child);
  if (!parent.commands.includes(command)) parent.addCommand(command);
}

/** A word that is no command gets the commands that were probably meant. */
function checkName(program: Command, args: readonly string[]): void {
  const [name = ""] = args;
  if (name.startsWith("-")) return;
  const names = [...program.commands.flatMap((command) => [command.name(), ...command.aliases()]), "help"];
  if (names.includes(name)) return;
  const near = names.filter((other) => editDistance(name, other) <= 2 || other.startsWith(name));
  throw new UsageError(
    `there is no command "${name}"`,
    near.length > 0
      ? `did you mean ${near.map((other) => `"${other}"`).join(" or ")}?`
      : "`perdure --help` lists the commands",
  );
}
