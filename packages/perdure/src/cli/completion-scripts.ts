// Completion scripts, made from the commands themselves: they know what --help knows.
//
// Files are completed for `dev`, `start` and options that take files or directories; everything else by words.

import type { Command, Option } from "commander";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

interface CommandWords {
  /** `state get`; empty for the program itself. */
  readonly path: string;
  readonly description: string;
  readonly subcommands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly Option[];
  readonly takesFiles: boolean;
}

const FILE_VALUES = /<(?:file|dir)>/;

export function completionScript(shell: Shell, program: Command): string {
  const commands = wordsOf(program, "");
  switch (shell) {
    case "bash":
      return bash(commands);
    case "zsh":
      return zsh(commands);
    case "fish":
      return fish(commands);
  }
}

function wordsOf(command: Command, path: string): readonly CommandWords[] {
  const help = command.createHelp();
  const subcommands = help.visibleCommands(command).filter((sub) => sub.name() !== "help");
  const own: CommandWords = {
    path,
    description: command.description(),
    subcommands: subcommands.map((sub) => ({ name: sub.name(), description: sub.description() })),
    options: help.visibleOptions(command),
    takesFiles: command.registeredArguments.some((argument) => argument.name() === "files"),
  };
  return [own, ...subcommands.flatMap((sub) => wordsOf(sub, `${path} ${sub.name()}`.trim()))];
}

function flagsOf(option: Option): readonly string[] {
  return [option.long, option.short].filter((flag) => flag != null);
}

const HEADER = "completions of perdure; made by `perdure completions`";

function bash(commands: readonly CommandWords[]): string {
  const cases = commands.map(({ path, subcommands, options, takesFiles }) => {
    const words = [...subcommands.map(({ name }) => name), ...options.flatMap(flagsOf)].join(" ");
    return `    ${JSON.stringify(path)}) words=${JSON.stringify(words)}; files=${takesFiles ? 1 : 0} ;;`;
  });
  const groups = commands
    .filter(({ path, subcommands }) => path !== "" && subcommands.length > 0)
    .map(({ path }) => path);
  const fileFlags = commands.flatMap(({ options }) =>
    options.filter((option) => FILE_VALUES.test(option.flags)).flatMap(flagsOf),
  );
  return `# bash ${HEADER}: source <(perdure completions bash)
_perdure() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" path="" words="" files=0 at word
  COMPREPLY=()
  for ((at = 1; at < COMP_CWORD; at++)); do
    word="\${COMP_WORDS[at]}"
    case "$word" in -*) continue ;; esac
    if [ -z "$path" ]; then path="$word"; continue; fi
    case "$path" in ${groups.join("|") || "_"}) path="$path $word" ;; esac
    break
  done
  case "$previous" in ${[...new Set(fileFlags)].join("|") || "_"}) compopt -o default 2>/dev/null; return ;; esac
  case "$path" in
${cases.join("\n")}
    *) return ;;
  esac
  if [ "$files" = 1 ] && [ "\${current#-}" = "$current" ]; then compopt -o default 2>/dev/null; return; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _perdure perdure
`;
}

function zsh(commands: readonly CommandWords[]): string {
  const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
  const described = (name: string, description: string): string =>
    quote(`${name.replaceAll(":", "\\:")}:${description.replaceAll(":", "\\:")}`);
  const cases = commands.map(({ path, subcommands, options, takesFiles }) => {
    const words = [
      ...subcommands.map(({ name, description }) => described(name, description)),
      ...options.flatMap((option) => flagsOf(option).map((flag) => described(flag, option.description))),
    ];
    const files = takesFiles ? "\n      _files" : "";
    return `    ${quote(path)})\n      choices=(${words.join(" ")})\n      _describe -t choices perdure choices${files} ;;`;
  });
  const groups = commands
    .filter(({ path, subcommands }) => path !== "" && subcommands.length > 0)
    .map(({ path }) => path);
  // Not `path`: zsh ties that name to PATH.
  return `#compdef perdure
# zsh ${HEADER}: put it into a folder of $fpath as _perdure, or: source <(perdure completions zsh)
_perdure() {
  local route="" word
  local -a choices
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ "$word" == -* ]] && continue
    if [[ -z "$route" ]]; then route="$word"; continue; fi
    case "$route" in ${groups.join("|") || "_"}) route="$route $word" ;; esac
    break
  done
  case "$route" in
${cases.join("\n")}
  esac
}
if [ "$funcstack[1]" = "_perdure" ]; then _perdure "$@"; else compdef _perdure perdure; fi
`;
}

function fish(commands: readonly CommandWords[]): string {
  const quote = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const lines = commands.flatMap(({ path, subcommands, options, takesFiles }) => {
    const names = path.split(" ").filter((name) => name !== "");
    const here = subcommands.map(({ name }) => name).join(" ");
    const seen = names.map((name) => `__fish_seen_subcommand_from ${name}`);
    const atCommand = [...seen, here === "" ? "" : `not __fish_seen_subcommand_from ${here}`]
      .filter((part) => part !== "")
      .join("; and ");
    const where = names.length === 0 ? "__fish_use_subcommand" : atCommand;
    const base = `complete -c perdure -n ${quote(where)}`;
    return [
      ...subcommands.map(({ name, description }) => `${base} -f -a ${name} -d ${quote(description)}`),
      ...options.map((option) => `${base}${fishFlags(option)} -d ${quote(option.description)}`),
      ...(takesFiles ? [`${base} -F`] : []),
    ];
  });
  return `# fish ${HEADER}: perdure completions fish > ~/.config/fish/completions/perdure.fish
complete -c perdure -f
${lines.join("\n")}
`;
}

function fishFlags(option: Option): string {
  const long = option.long == null ? "" : ` -l ${option.long.slice(2)}`;
  const short = option.short == null ? "" : ` -s ${option.short.slice(1)}`;
  const value = option.required || option.optional ? (FILE_VALUES.test(option.flags) ? " -r -F" : " -x") : "";
  return long + short + value;
}
