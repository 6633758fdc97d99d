// What all commands share: the process around them, the options that most of them take, how they end.

import { Command, InvalidArgumentError, Option } from "commander";
import { AdminClient } from "./api/admin-client.ts";
import { IngressClient } from "./api/ingress-client.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import type { Io } from "./io.ts";
import { Output } from "./output.ts";

const ADMIN_URL_DEFAULT = "http://127.0.0.1:9070";
const INGRESS_URL_DEFAULT = "http://127.0.0.1:8080";

export interface CommonOptions {
  readonly json?: boolean;
  readonly admin?: string;
  readonly url?: string;
  readonly token?: string;
}

/** Commands that take --url. */
const ASKS_INGRESS: ReadonlySet<string> = new Set([
  "call",
  "send",
  "result",
  "chat",
  "approvals",
  "schedules",
  "doctor",
]);

export class Cli {
  readonly io: Io;
  exitCode: ExitCode = EXIT.ok;

  constructor(io: Io) {
    this.io = io;
  }

  output(options: CommonOptions): Output {
    return new Output(this.io, options.json === true);
  }

  admin(options: CommonOptions): AdminClient {
    return new AdminClient({ url: this.adminUrl(options), token: this.token(options), signal: this.io.interrupted });
  }

  ingress(options: CommonOptions): IngressClient {
    const url = options.url ?? present(this.io.env["PERDURE_URL"]) ?? INGRESS_URL_DEFAULT;
    return new IngressClient({ url, token: this.token(options), signal: this.io.interrupted });
  }

  adminUrl(options: CommonOptions): string {
    return options.admin ?? present(this.io.env["PERDURE_ADMIN"]) ?? ADMIN_URL_DEFAULT;
  }

  token(options: CommonOptions): string | undefined {
    return options.token ?? present(this.io.env["PERDURE_TOKEN"]);
  }

  /** How this command is called from here: under npm and npx it is most likely not on the PATH. */
  get program(): string {
    return present(this.io.env["npm_config_user_agent"]) === undefined ? "perdure" : "npx perdure";
  }

  /** Said whether or not somebody is at a terminal: it has to be known. */
  hint(options: CommonOptions, text: string): void {
    if (options.json !== true) this.io.stderr.write(`${text}\n`);
  }

  /** The command as a person has to type it, with the options that led here. */
  commandLine(options: CommonOptions, ...words: readonly string[]): string {
    const flags: string[] = [];
    if (options.admin !== undefined && options.admin !== ADMIN_URL_DEFAULT) flags.push("--admin", options.admin);
    const [command = ""] = words;
    if (ASKS_INGRESS.has(command) && options.url !== undefined && options.url !== INGRESS_URL_DEFAULT)
      flags.push("--url", options.url);
    return [this.program, ...words, ...flags].join(" ");
  }
}

const present = (text: string | undefined): string | undefined => (text === "" ? undefined : text);

/** A command that talks to the admin API. */
export function adminCommand(name: string, description: string): Command {
  return jsonCommand(name, description).addOption(adminOption()).addOption(tokenOption());
}

/** A command that talks to the ingress. */
export function ingressCommand(name: string, description: string): Command {
  return jsonCommand(name, description)
    .addOption(
      new Option("--url <url>", `the ingress (or PERDURE_URL; default ${INGRESS_URL_DEFAULT})`).argParser(parseUrl),
    )
    .addOption(tokenOption());
}

export function jsonCommand(name: string, description: string): Command {
  return new Command(name).description(description).option("--json", "print JSON, for programs");
}

export function adminOption(): Option {
  return new Option("--admin <url>", `the admin API (or PERDURE_ADMIN; default ${ADMIN_URL_DEFAULT})`).argParser(
    parseUrl,
  );
}

export function tokenOption(): Option {
  return new Option("--token <token>", "the runtime's token (or PERDURE_TOKEN)");
}

function parseUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new InvalidArgumentError("Write an address such as http://127.0.0.1:9070.");
  return url.href.replace(/\/$/, "");
}

/** A command that does one thing to each of some runs. */
export function actCommand(name: string, description: string): Command {
  return adminCommand(name, description)
    .argument("[runs...]", "ids, or the beginnings or ends of them")
    .option("--all", "every run that this can be done to")
    .option("--dry-run", "only list the runs that a filter finds")
    .option("-y, --yes", "do not ask");
}
