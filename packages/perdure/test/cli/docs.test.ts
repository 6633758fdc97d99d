// docs/cli.md against the commands themselves: a command, an option or an exit code that it does not name is missing.

import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { Cli } from "../../src/cli/cli.ts";
import { COMMAND_GROUPS } from "../../src/cli/commands/index.ts";
import { EXIT_MEANINGS } from "../../src/cli/exit-codes.ts";
import { silentIo } from "./typed-process.ts";

const page = readFileSync(new URL("../../../../docs/cli.md", import.meta.url), "utf8");
const shared = page.slice(page.indexOf("## What all commands share"), page.indexOf("## Serve"));

/** What stands under the headings that name the command. */
function sectionOf(name: string): string {
  const sections = page.split(/^(?=#{2,3} )/m);
  return sections.filter((section) => new RegExp(`\`${name}[ \`]`).test(section.split("\n")[0] ?? "")).join("");
}

const commands: readonly Command[] = COMMAND_GROUPS.flatMap((group) =>
  group.commands.map((make) => make(new Cli(silentIo()))),
);

describe("docs/cli.md", () => {
  it.each(commands.map((command) => [command.name(), command] as const))(
    "tells of %s and of each of its options",
    (name, command) => {
      const section = sectionOf(name);
      expect(section, `a heading with \`${name}\``).not.toBe("");
      for (const each of [command, ...command.commands]) {
        if (each !== command) expect(section).toContain(each.name());
        const flags = each.options.flatMap(({ long }) => (long == null ? [] : [long]));
        for (const flag of flags) expect(section + shared, `${each.name()} ${flag}`).toMatch(new RegExp(`${flag}\\b`));
      }
    },
  );

  it("has the exit codes that --help shows", () => {
    for (const [code, meaning] of EXIT_MEANINGS)
      expect(shared).toMatch(new RegExp(`^\\| ${code} \\| ${meaning.slice(0, 12)}`, "m"));
  });
});
