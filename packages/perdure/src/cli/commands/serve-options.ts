// What `dev` and `start` have in common: their options, and what they print.

import { InvalidArgumentError, Option, type Command } from "commander";
import { BindRefusedError, BUILT_IN_PREFIX, type ServiceManifest } from "@perdure/protocol";
import { jsonCommand, tokenOption, type Cli, type CommonOptions } from "../cli.ts";
import type { Output } from "../output.ts";
import { parseCount } from "../run-filter.ts";
import type { Served, ServeOptions } from "../serve.ts";
import { plural } from "../text.ts";
import { parseDurationOption } from "../time-text.ts";

export interface ServeFlags extends CommonOptions {
  readonly data: string;
  readonly host: string;
  readonly port: number;
  readonly adminPort: number;
  readonly retention?: number;
  readonly maxLive?: number;
  readonly grace: number;
  readonly quiet?: boolean;
  /** What `dev` does with effects outside of steps. */
  readonly guard?: "warn" | "throw";
}

const HOST_DEFAULT = "127.0.0.1";
const GRACE_MS_DEFAULT = 10_000;

export function serveCommand(name: "dev" | "start", description: string): Command {
  return jsonCommand(name, description)
    .argument("<files...>", "TypeScript or JavaScript files that export services, objects or workflows")
    .option("--data <dir>", "where everything is kept", ".perdure")
    .addOption(new Option("--port <port>", "ingress").default(8080).argParser(parsePort))
    .addOption(new Option("--admin-port <port>", "admin").default(9070).argParser(parsePort))
    .option("--host <address>", "listen on this address; others than loopback need --token", HOST_DEFAULT)
    .addOption(tokenOption())
    .addOption(
      new Option(
        "--retention <duration>",
        "how long finished runs are kept, unless their handler says so (default: 7d)",
      ).argParser(parseDurationOption),
    )
    .addOption(new Option("--max-live <runs>", "runs in memory at once").argParser(parseCount))
    .addOption(
      new Option("--grace <duration>", "what running steps may take at the end")
        .default(GRACE_MS_DEFAULT, "10s")
        .argParser(parseDurationOption),
    )
    .option("-q, --quiet", "print nothing but errors");
}

export function serveOptions(
  cli: Cli,
  mode: "dev" | "start",
  files: readonly string[],
  flags: ServeFlags,
): ServeOptions {
  return {
    files,
    cwd: cli.io.cwd,
    data: flags.data,
    host: flags.host,
    port: flags.port,
    adminHost: flags.host,
    adminPort: flags.adminPort,
    token: cli.token(flags),
    retentionMs: flags.retention,
    maxLive: flags.maxLive,
    graceMs: flags.grace,
    guard: flags.guard,
    mode,
  };
}

/** Where it listens, what it serves, and what to try. */
export function printServed(cli: Cli, output: Output, served: Served, flags: ServeFlags): void {
  if (output.json) {
    output.line({
      type: "listening",
      ingress: served.ingressUrl,
      admin: served.adminUrl,
      data: served.dataDirectory,
      services: served.services,
    });
    return;
  }
  if (flags.quiet === true) return;
  const { paint } = output;
  // What the runtime brings along is not what somebody looks for here.
  const services = served.services.filter(({ name }) => !name.startsWith(BUILT_IN_PREFIX));
  const handlers = services.reduce((sum, service) => sum + service.handlers.length, 0);
  const lines = [
    "",
    `${paint("bold", "Perdure")} serves ${plural(services.length, "service")} with ${plural(handlers, "handler")}`,
    "",
    `  ingress  ${paint("cyan", served.ingressUrl)}`,
    `  admin    ${paint("cyan", served.adminUrl)}  ${paint("dim", "opens the cockpit in a browser")}`,
    `  data     ${served.dataDirectory}`,
    "",
    ...services.map(
      (service) =>
        `  ${(service.agent === true ? "agent" : service.kind).padEnd(8)} ${paint("bold", service.name)}  ${paint("dim", service.handlers.map((handler) => handler.name).join(", "))}`,
    ),
    "",
    "Try:",
    ...tries(cli, served).map((line) => `  ${line}`),
    "",
  ];
  output.text(lines.join("\n"));
}

/** Commands that can be copied as they stand, with the addresses of this runtime where they are not the usual ones. */
function tries(cli: Cli, served: Served): string[] {
  const usual = served.ingressUrl.endsWith(":8080") && served.adminUrl.endsWith(":9070");
  const program = cli.commandLine({});
  const [url, admin] = usual ? ["", ""] : [` --url ${served.ingressUrl}`, ` --admin ${served.adminUrl}`];
  const agent = served.services.find((service) => service.agent === true);
  const first = firstTarget(served.services);
  const call =
    first === undefined
      ? []
      : agent !== undefined
        ? [`${program} chat ${agent.name} --session my-session${url}${admin}`]
        : [
            `${program} send ${first}${url}`,
            `curl -X POST ${served.ingressUrl}/${first.replace(" ", " -H 'content-type: application/json' -d ")}`,
          ];
  return [...call, `${program} runs --watch${admin}`, `${program} show <run>${admin}`];
}

function firstTarget(services: readonly ServiceManifest[]): string | undefined {
  for (const service of services) {
    const handler = service.handlers.find((other) => other.internal !== true);
    if (handler === undefined) continue;
    const path =
      service.kind === "service" ? `${service.name}/${handler.name}` : `${service.name}/my-key/${handler.name}`;
    return handler.inputSchema === undefined ? path : `${path} '${JSON.stringify(sample(handler.inputSchema))}'`;
  }
  return undefined;
}

/** A value that shows the shape of an input, from its JSON schema as far as that is simple. */
function sample(schema: object | undefined): unknown {
  const { type, properties, examples, required } = (schema ?? {}) as {
    type?: unknown;
    properties?: Record<string, object>;
    examples?: unknown[];
    required?: string[];
  };
  if (examples?.[0] !== undefined) return examples[0];
  if (type === "string") return "…";
  if (type === "number" || type === "integer") return 1;
  if (type === "boolean") return true;
  if (type === "array") return [];
  return Object.fromEntries(
    Object.entries(properties ?? {})
      .filter(([name]) => required?.includes(name) ?? true)
      .map(([name, property]) => [name, sample(property)]),
  );
}

/** Names that the address is refused before anything is loaded: the mistake is on the command line. */
export function checkAddress(options: ServeOptions): void {
  const loopback = options.host === "localhost" || options.host === "::1" || options.host.startsWith("127.");
  if (loopback || options.token !== undefined) return;
  throw new BindRefusedError(`${options.host} can be reached by others, and no credentials are set`);
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new InvalidArgumentError("A port is a number from 0 (any free one) to 65535.");
  return port;
}
