// A real server, killed with SIGKILL in the middle of a stream of a model, and started again on the same directory.

import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DefaultChatTransport, readUIMessageStream } from "ai";
import type { AgentUIMessage } from "@perdure/agents";
import { afterEach, beforeEach, expect, test } from "vitest";
import { EventReader, type SentEvent } from "./event-reader.ts";
import { ask, post, until } from "./world.ts";

let directory: string;
let child: ChildProcess | undefined;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "perdure-stream-crash-"));
});

afterEach(() => {
  child?.kill("SIGKILL");
  rmSync(directory, { recursive: true, force: true });
});

/** @param pieces that its model says before it falls silent. */
async function startServer(pieces: number): Promise<string> {
  child = fork(new URL("agent-process.ts", import.meta.url), [join(directory, "data"), String(pieces)], {
    execArgv: ["--conditions=perdure-source", "--no-warnings"],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const [{ url }] = (await once(child, "message")) as [{ url: string }];
  return url;
}

async function killServer(): Promise<void> {
  const exited = child === undefined ? undefined : once(child, "exit");
  child?.kill("SIGKILL");
  await exited;
}

const WHOLE = Array.from({ length: 20 }, (_, at) => `${at} `).join("");
const EVENTS = "/perdure/streams/teller/s1/events";
const isPart = ({ data }: SentEvent): boolean => data.item?.type === "part";
const deltas = (events: readonly SentEvent[]): string =>
  events.map(({ data }) => (data.item?.part?.type === "text-delta" ? data.item.part.delta : "")).join("");

test("a follower that comes back with Last-Event-ID is told every item once, without a gap", async () => {
  let url = await startServer(5);
  await post(`${url}/teller/s1/send/send`, "Tell.", { "idempotency-key": "m1" });
  const before = await EventReader.open(url + EVENTS);
  await before.until(() => before.events.filter(isPart).length >= 6);
  await killServer();
  await before.until(() => before.ended);

  url = await startServer(1_000);
  const after = await EventReader.open(url + EVENTS, { "last-event-id": before.lastId ?? "" });
  await after.next(({ data }) => data.item?.type === "turn-end");
  after.close();

  const told = [...before.events, ...after.events];
  expect(told.map(({ data }) => data.offset)).toEqual(told.map((_, at) => at));
  const { json } = await ask(`${url}${EVENTS}?follow=false&limit=1000`);
  expect(told.map(({ data }) => data)).toEqual(json.items);
  // The try that was cut stands there as what it is, beside the one that came after it.
  const starts = told.flatMap(({ data }, at) => (data.item.type === "call-start" ? [at] : []));
  expect(starts).toHaveLength(2);
  expect(deltas(told.slice(0, starts[1]))).toMatch(/^0 1 2 3 4/);
  expect(deltas(told.slice(starts[1]))).toBe(WHOLE);
});

test("a chat that comes back shows the answer once", async () => {
  let url = await startServer(5);
  const transport = (): DefaultChatTransport<AgentUIMessage> =>
    new DefaultChatTransport({ api: `${url}/perdure/agents/teller/s1/chat` });
  const message: AgentUIMessage = { id: "m1", role: "user", parts: [{ type: "text", text: "Tell." }] };
  const sent = await transport().sendMessages({
    trigger: "submit-message",
    chatId: "s1",
    messageId: undefined,
    messages: [message],
    abortSignal: undefined,
  });
  const cut = read(sent);
  await until(
    async () => cut.text(),
    (text) => text.startsWith("0 1 2 3"),
  );
  await killServer();
  await cut.ended;
  expect(cut.error()).toBeDefined();

  url = await startServer(1_000);
  const again = await transport().reconnectToStream({ chatId: "s1" });
  if (again === null) throw new Error("the turn did not go on");
  const whole = read(again);
  await whole.ended;
  expect(whole.error()).toBeUndefined();
  expect(whole.text()).toBe(WHOLE);
  expect(whole.message()?.parts.filter(({ type }) => type === "text")).toHaveLength(1);
  expect(whole.message()?.parts.map(({ type }) => type)).toContain("data-attempt-failed");
  expect(whole.message()?.id).toBe(cut.message()?.id);
});

function read(stream: Awaited<ReturnType<DefaultChatTransport<AgentUIMessage>["sendMessages"]>>): {
  readonly ended: Promise<void>;
  message(): AgentUIMessage | undefined;
  text(): string;
  error(): unknown;
} {
  let message: AgentUIMessage | undefined;
  let error: unknown;
  const run = async (): Promise<void> => {
    try {
      const onError = (problem: unknown): void => void (error ??= problem);
      for await (const next of readUIMessageStream<AgentUIMessage>({ stream, onError }))
        message = structuredClone(next);
    } catch (problem) {
      error ??= problem;
    }
  };
  return {
    ended: run(),
    message: () => message,
    text: () => (message?.parts ?? []).flatMap((part) => (part.type === "text" ? [part.text] : [])).join("|"),
    error: () => error,
  };
}
