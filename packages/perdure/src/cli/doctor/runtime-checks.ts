// Does a runtime answer, and is it in order?

import type { AdminClient } from "../api/admin-client.ts";
import { open } from "../api/http.ts";
import type { IngressClient } from "../api/ingress-client.ts";
import { explain, InterruptedError } from "../errors.ts";
import { plural } from "../text.ts";
import { ago, roundDuration } from "../time-text.ts";
import { fail, ok, warn, type Check } from "./check.ts";

/** Timers compare clocks: a wrong one starts them late. */
const SKEW_MS_MAX = 2_000;
/** Before this the clock was never set. */
const CLOCK_MIN = Date.UTC(2025, 0, 1);

export interface RuntimeChecks {
  readonly checks: readonly Check[];
  readonly isUp: boolean;
}

export async function checkRuntime(
  admin: AdminClient,
  ingress: IngressClient,
  version: string,
  now: number,
): Promise<RuntimeChecks> {
  const { url } = admin.connection;
  const health = await admin.health().catch((error: unknown) => {
    if (error instanceof InterruptedError) throw error;
    return explain(error).message;
  });
  if (health !== "ok" && health !== "starting" && health !== "draining") {
    const isOther = health === undefined;
    const message = isOther ? `something answers at ${url}, but it is no Perdure` : health;
    return {
      isUp: false,
      checks: [warn("runtime", message, "start one (`perdure dev <files…>`), or name another: --admin, PERDURE_ADMIN")],
    };
  }
  const checks: Check[] = [];
  if (health !== "ok") checks.push(warn("runtime", `the one at ${url} is ${health}`, "ask again in a moment"));
  else checks.push(await describeRuntime(admin, version, now));
  checks.push(await checkIngress(ingress));
  const skew = await clockSkew(admin);
  if (Math.abs(skew) > SKEW_MS_MAX)
    checks.push(
      warn(
        "clock",
        `the runtime's differs from this machine's by ${roundDuration(Math.abs(skew))}`,
        "let NTP set both",
      ),
    );
  return { isUp: true, checks };
}

async function describeRuntime(admin: AdminClient, version: string, now: number): Promise<Check> {
  const { url } = admin.connection;
  try {
    const [about, services] = [await admin.version(), await admin.services()];
    const since = ago(Date.parse(about.startedAt), now);
    const text = `${about.version} at ${url}, on Node ${about.node}, started ${since}, serves ${plural(services.length, "service")}`;
    return about.version === version || about.version === "0.0.0"
      ? ok("runtime", text)
      : warn("runtime", `${text}; this command is ${version}`, "use one version for both");
  } catch (error) {
    const { message, advice = "look at its log" } = explain(error);
    return fail("runtime", message, advice);
  }
}

async function checkIngress({ connection }: IngressClient): Promise<Check> {
  try {
    const response = await open(connection, "/health");
    response.resume();
    if (response.statusCode === 200) return ok("ingress", `answers at ${connection.url}`);
    return warn(
      "ingress",
      `${connection.url}/health answered ${response.statusCode}`,
      "is it the ingress of this runtime? Name it: --url, PERDURE_URL",
    );
  } catch (error) {
    return warn("ingress", explain(error).message, "name it: --url, PERDURE_URL");
  }
}

/** To the second, as the Date header is. */
async function clockSkew(admin: AdminClient): Promise<number> {
  const before = Date.now();
  const response = await open(admin.connection, "/health");
  response.resume();
  const there = Date.parse(response.headers.date ?? "");
  if (Number.isNaN(there)) return 0;
  const middle = (before + Date.now()) / 2;
  return Math.abs(there + 500 - middle) <= 1_000 ? 0 : there + 500 - middle;
}

export function checkClock(now: number): Check {
  const text = new Date(now).toISOString();
  return now < CLOCK_MIN
    ? fail("clock", `says ${text}, which is in the past`, "set it: timers would fire early")
    : ok("clock", text);
}
