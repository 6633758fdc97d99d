// Whether a listener's runtime takes questions: 200, or 503 while it starts or drains.

import type { ServerResponse } from "node:http";
import type { HealthAnswer } from "@perdure/protocol";
import { sendJson } from "./answers.ts";
import type { ServedRuntime } from "./context.ts";

export function health(runtime: ServedRuntime, res: ServerResponse): void {
  const status: HealthAnswer["status"] = runtime.draining ? "draining" : runtime.healthy ? "ok" : "starting";
  sendJson(res, status === "ok" ? 200 : 503, { status } satisfies HealthAnswer);
}
