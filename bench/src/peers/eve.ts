// eve
// ===
// `eve build` and `eve start`, as its guide to self-hosting has it, with the world it chooses by itself: workflow state in
// files under the app's directory. (Its Postgres world cannot be installed: it needs a release of @workflow/errors that the
// registry does not serve.) Its sandbox is never opened: the default tools that would are turned off.
//
// A conversation posts a message and follows the session's stream of events until the turn has completed.

import { cpSync, symlinkSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cpuMs } from "../cpu-time.ts";
import { freePorts, healthy, removeDirectory, startProgram, temporaryDirectory, within } from "../children.ts";
import { type Conversation, post, type Talker } from "./talker.ts";

const modules = fileURLToPath(new URL("../../node_modules", import.meta.url));
/** Of the app, each where eve looks for it. */
const FILES = ["agent/agent.ts", "agent/instructions.md", "agent/channels/eve.ts", "agent/tools/search.ts"];
const BUILD_MS_MAX = 180_000;

export const eve: Talker = {
  name: "eve",
  async start(providerUrl) {
    const app = temporaryDirectory("eve");
    const env = { BENCH_PROVIDER_URL: providerUrl, EVE_TELEMETRY_DISABLED: "1", NODE_ENV: "production" };
    for (const file of FILES) cpSync(fileURLToPath(new URL(`./eve-app/${file}`, import.meta.url)), join(app, file));
    const dependencies = { "@ai-sdk/openai": "*", eve: "*", zod: "*" };
    writeFileSync(join(app, "package.json"), JSON.stringify({ name: "bench-eve", type: "module", dependencies }));
    symlinkSync(modules, join(app, "node_modules"));
    const bin = join(modules, "eve/bin/eve.js");
    const build = startProgram("eve build", process.execPath, [bin, "build", "--skip-sandbox-prewarm"], {
      cwd: app,
      env,
    });
    try {
      await within(BUILD_MS_MAX, "eve build", once(build.process, "exit"));
      if (build.process.exitCode !== 0) throw new Error(`eve build failed\n${build.output()}`);
      const [port = 0] = await freePorts(1);
      const args = [bin, "start", "--host", "127.0.0.1", "--port", String(port)];
      const server = startProgram("eve", process.execPath, args, { cwd: app, env });
      const url = `http://127.0.0.1:${port}`;
      const stop = async (): Promise<void> => {
        await server.stop();
        removeDirectory(app);
      };
      try {
        await healthy(server, `${url}/eve/v1/health`);
      } catch (error) {
        await stop();
        throw error;
      }
      return { cpuMs: () => cpuMs(server), open: () => openSession(url), stop };
    } catch (error) {
      await build.stop();
      removeDirectory(app);
      throw error;
    }
  },
};

interface EveEvent {
  readonly type: string;
  readonly data: { readonly message?: string; readonly finishReason?: string };
}

/** The first message creates the session. */
async function openSession(url: string): Promise<Conversation> {
  const leave = new AbortController();
  let session: string | undefined;
  let events: AsyncGenerator<EveEvent, void> | undefined;
  return {
    async say(text) {
      if (session === undefined) {
        const { sessionId } = (await post(`${url}/eve/v1/session`, { message: text })) as { sessionId: string };
        session = `${url}/eve/v1/session/${sessionId}`;
      } else await post(session, { message: text });
      events ??= followEvents(`${session}/stream`, leave.signal);
      return await answerIn(events);
    },
    close: () => leave.abort(),
  };
}

async function answerIn(events: AsyncGenerator<EveEvent, void>): Promise<string> {
  let answer = "";
  for (;;) {
    const { value: event, done } = await events.next();
    if (done === true) throw new Error("eve's stream of events ended before the turn");
    const { type, data } = event;
    if (type === "message.completed" && data.finishReason === "stop") answer = data.message ?? "";
    if (type.endsWith(".failed")) throw new Error(`eve: ${JSON.stringify(event)}`);
    if (type === "turn.completed") return answer;
  }
}

async function* followEvents(url: string, signal: AbortSignal): AsyncGenerator<EveEvent, void> {
  const { body } = await fetch(url, { signal });
  if (body === null) return;
  let rest = "";
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") yield JSON.parse(line) as EveEvent;
  }
}
