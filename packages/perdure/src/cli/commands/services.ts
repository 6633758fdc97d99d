// perdure services: what is served.

import type { Command } from "commander";
import type { HandlerManifest, ServiceManifest } from "@perdure/protocol";
import { adminCommand, type Cli, type CommonOptions } from "../cli.ts";
import type { Column } from "../table.ts";

const COLUMNS: readonly Column[] = [
  { title: "TARGET" },
  { title: "KIND" },
  { title: "MODE" },
  { title: "INPUT", shrinksTo: 10 },
  { title: "DESCRIPTION", shrinksTo: 10 },
];

export function servicesCommand(cli: Cli): Command {
  return adminCommand("services", "list what is served; schemas and policies under --json").action(
    async (options: CommonOptions) => {
      const services = await cli.admin(options).services();
      const out = cli.output(options);
      if (out.json) return out.document({ services });
      if (services.length === 0) return out.note("nothing is served");
      const rows = services.flatMap((service) => service.handlers.map((handler) => row(service, handler)));
      out.raw(out.table(COLUMNS, rows));
    },
  );
}

function row(service: ServiceManifest, handler: HandlerManifest): readonly string[] {
  const target =
    service.kind === "service" ? `${service.name}/${handler.name}` : `${service.name}/<key>/${handler.name}`;
  const mode = [
    ...(handler.mode === "service" ? [] : [handler.mode]),
    ...(handler.internal === true ? ["internal"] : []),
    ...(service.memory === undefined ? [] : [service.memory]),
  ];
  const description = handler.description ?? service.description ?? "";
  return [target, service.kind, mode.join(" "), inputText(handler.inputSchema), description];
}

/** The names of its properties, where it has some. */
function inputText(schema: object | undefined): string {
  if (schema === undefined) return "";
  const { properties, type } = schema as { readonly properties?: object; readonly type?: unknown };
  return properties === undefined
    ? typeof type === "string"
      ? type
      : ""
    : `{ ${Object.keys(properties).join(", ")} }`;
}
