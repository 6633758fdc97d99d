// The text at the ingress's `/`: what there is, and what to try.

import type { ServerResponse } from "node:http";
import type { ServiceManifest } from "@perdure/protocol";

const HANDLERS_SHOWN = 20;

export function welcome(res: ServerResponse, services: readonly ServiceManifest[], adminUrl: string | undefined): void {
  const text = welcomeText(services, adminUrl);
  res.writeHead(200, { "content-type": "text/plain; charset=utf-8", "content-length": Buffer.byteLength(text) });
  res.end(text);
}

function welcomeText(services: readonly ServiceManifest[], adminUrl: string | undefined): string {
  const paths = services.flatMap((service) =>
    service.handlers
      .filter((handler) => handler.internal !== true)
      .map((handler) =>
        service.kind === "service" ? `/${service.name}/${handler.name}` : `/${service.name}/{key}/${handler.name}`,
      ),
  );
  const shown = paths.slice(0, HANDLERS_SHOWN).map((path) => `  POST ${path}`);
  if (paths.length > shown.length) shown.push(`  and ${paths.length - shown.length} more: see /openapi.json`);
  const lines = [
    "Perdure: the ingress.",
    "",
    ...(shown.length === 0
      ? ["No handlers are served yet."]
      : ["Call a handler and wait for its result:", "", ...shown]),
    "",
    "  curl --json '\"an input\"' http://localhost:8080/service/handler",
    "",
    "Append /send to be answered at once (and ?delay=10s to start later), and add the header",
    "idempotency-key to be sure that a repeated request starts nothing new.",
    "",
    "  GET /openapi.json                    every handler, with its schemas",
    "  GET /perdure/runs/{id}/attach        wait for a run's result",
    "  GET /perdure/runs/{id}/output        the result, or 470 while there is none",
    ...services
      .filter(({ agent }) => agent === true)
      .map(({ name }) => `  POST /perdure/agents/${name}/{session}/chat   a chat, as the AI SDK's useChat has it`),
    ...(adminUrl === undefined ? [] : ["", `Runs, journals and state are shown by the admin surface: ${adminUrl}`]),
  ];
  return `${lines.join("\n")}\n`;
}
