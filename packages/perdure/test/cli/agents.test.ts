// perdure agents, approvals, budget, writes, audit: what a person sees of agents, and decides about them.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ChatWorld, hasResult } from "./chat-world.ts";

let world: ChatWorld;
beforeEach(async () => {
  world = new ChatWorld();
  await world.start();
});
afterEach(() => world.close());

interface Ran {
  readonly exit: number;
  readonly out: string;
  readonly err: string;
}

async function run(...words: readonly string[]): Promise<Ran> {
  const typed = world.type(...words);
  const exit = await typed.ended;
  return { exit, out: typed.out, err: typed.err };
}

async function json<T>(...words: readonly string[]): Promise<T> {
  const { exit, out, err } = await run(...words, "--json");
  if (exit !== 0) throw new Error(err);
  return JSON.parse(out) as T;
}

/** An agent that wants to write to somebody, and waits for a yes. */
async function asked(session = "a", to = "bob"): Promise<{ readonly id: string; answered(): Promise<string> }> {
  world.script = (request) => (hasResult(request) ? "Done." : { toolCalls: [{ name: "mail", input: { to } }] });
  const chat = world.chat(session, "--message", "write");
  await chat.prints("waits for an answer");
  const [, id = ""] = /approve (apr_\w+)/.exec(chat.err) ?? [];
  return { id, answered: async () => ((await chat.ended) === 0 ? chat.out : chat.err) };
}

describe("agents", () => {
  it("lists the agents, the sessions of one, and what a session does", async () => {
    const { id } = await asked();
    expect((await run("agents")).out).toMatch(/^AGENT +SESSIONS +AT WORK +DESCRIPTION\nboss +1 +1\n/);
    expect((await run("agents", "boss")).out).toMatch(/^SESSION +STATE[^\n]*\na +(?:working|waiting) +0 +\d+ +1 +0\n$/);
    const { out } = await run("agents", "boss/a");
    expect(out).toMatch(/^boss\/a {2}(?:working|waiting) {2}\d+ items\n {2}turn +run_1/);
    expect(out).toContain(`asks      ${id}`);
    expect(await json("agents", "boss/a")).toMatchObject({
      agent: "boss",
      session: "a",
      approvals: [{ id, tool: "mail" }],
    });
  });

  it("says what is not there", async () => {
    expect(await run("agents", "bos")).toMatchObject({ exit: 4 });
    expect(await run("agents", "boss/")).toMatchObject({ exit: 2 });
    expect(await json("agents", "boss")).toEqual({ sessions: [], nextAfter: null });
  });
});

describe("approvals", () => {
  it("lists what is open, shows it, and approves it in the name of who asks", async () => {
    const { id, answered } = await asked();
    expect((await run("approvals")).out).toMatch(
      new RegExp(`^ID +ASKED +STATE +WHO +WHAT\\n${id} +.* +open +boss/a +boss wants to use mail`),
    );
    const { out } = await run("approvals", "show", id.slice(0, 12));
    expect(out).toContain(`${id}  open\n`);
    expect(out).toContain('"to": "bob"');
    expect(await run("approvals", "approve", id.slice(-8), "--comment", "fine")).toMatchObject({
      exit: 0,
      out: `${id}  approved by ada\n`,
    });
    expect(await answered()).toBe("Done.\n");
    expect(world.sentMail).toEqual([{ to: "bob" }]);
    expect((await json<{ approvals: unknown[] }>("approvals")).approvals).toEqual([]);
    expect((await json<{ approvals: unknown[] }>("approvals", "list", "--all")).approvals).toMatchObject([
      { id, state: "approved" },
    ]);
    expect((await run("approvals", "show", id)).out).toMatch(/answered +by ada[^\n]*\n +comment +fine/);
  });

  it("approves something else, and rejects", async () => {
    const first = await asked("a");
    expect((await run("approvals", "approve", first.id, "--input", '{"to":"eve"}', "--as", "grace")).exit).toBe(0);
    await first.answered();
    const second = await asked("b");
    expect((await run("approvals", "reject", second.id, "--comment", "no")).out).toContain("rejected by ada");
    await second.answered();
    expect(world.sentMail).toEqual([{ to: "eve" }]);
  });

  it("the second answer is refused, and so is an id that is not there", async () => {
    const { id, answered } = await asked();
    await run("approvals", "approve", id);
    await answered();
    expect(await run("approvals", "reject", id)).toMatchObject({
      exit: 5,
      err: expect.stringContaining("was approved by ada"),
    });
    expect(await run("approvals", "approve", "apr_ffffffff")).toMatchObject({ exit: 4 });
    expect(await run("approvals", "approve", "ff")).toMatchObject({ exit: 2 });
    expect(await run("approvals", "approve", id, "--input", "{")).toMatchObject({ exit: 2 });
  });
});

describe("budget", () => {
  it("shows what is used, and raises it", async () => {
    await world.type("chat", "miser", "--session", "a", "--message", "one").ended;
    expect((await run("budget", "miser/a")).out).toMatch(/^tokens +\d+\n/);
    expect((await run("budget", "miser/a")).out).toContain("calls   1 of 1\n");
    const raised = await run(
      "budget",
      "miser/a",
      "--raise",
      "calls=2,usd=1.5,tokens=100,wall=2h",
      "--comment",
      "go on",
    );
    expect(raised.out).toContain("calls   1 of 3\n");
    expect(await json("budget", "miser/a")).toMatchObject({ lastRaise: { by: "ada", comment: "go on" } });
  });

  it("refuses what is no amount, and says where there is no budget", async () => {
    for (const raise of ["calls", "calls=0", "calls=1.5", "cents=1", "usd=-1", "wall=soon"])
      expect((await run("budget", "miser/a", "--raise", raise)).exit, raise).toBe(2);
    expect(await run("budget", "boss/a")).toMatchObject({ exit: 4, err: expect.stringContaining("no budget boss/a") });
    expect((await run("budget", "miser")).exit).toBe(2);
  });
});

describe("writes", () => {
  it("takes the writes away, and says who did", async () => {
    expect(await json("writes")).toEqual({ controls: [] });
    expect(await run("writes", "boss", "deny", "--reason", "frozen")).toMatchObject({ exit: 0, out: "boss  deny\n" });
    expect((await run("writes")).out).toMatch(/^FOR +WRITES +BY +SINCE +REASON\nboss +deny +ada +now +frozen\n$/);
    world.script = (request) =>
      hasResult(request) ? "I may not." : { toolCalls: [{ name: "mail", input: { to: "bob" } }] };
    expect(await world.chat("a").say("write").end()).toBe(0);
    expect(JSON.stringify(await world.transcript("a"))).toContain(
      'writes of \\"boss\\" are set to \\"deny\\" by ada: frozen',
    );
    expect((await run("writes", "boss", "allow")).exit).toBe(0);
    expect(await json("writes", "boss")).toMatchObject({ controls: [{ key: "boss", writes: "allow" }] });
  });

  it("asks why, and refuses what means nothing", async () => {
    expect(await run("writes", "*", "deny")).toMatchObject({ exit: 2, err: expect.stringContaining("--reason") });
    expect((await run("writes", "boss", "maybe", "--reason", "x")).exit).toBe(2);
    expect((await run("writes", "/boss", "deny", "--reason", "x")).exit).toBe(5);
  });
});

describe("audit", () => {
  it("exports the log, and verifies it: in the runtime, and as it was exported", async () => {
    for (const mode of ["deny", "ask"]) await run("writes", "boss", mode, "--reason", "a test");
    const { out } = await run("audit", "export");
    const entries = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { seq: number; action: string; actor: string; hash: string });
    expect(entries.map(({ seq, action, actor }) => [seq, action, actor])).toEqual([
      [0, "writes.changed", "ada"],
      [1, "writes.changed", "ada"],
    ]);
    const head = entries[1]?.hash ?? "";
    expect((await run("audit", "verify")).out).toBe(`ok  2 entries, head ${head}\n`);

    const file = join(world.data, "audit.jsonl");
    expect(await json("audit", "export", "--out", file)).toEqual({ file, entries: 2 });
    expect((await run("audit", "export", "--out", file)).exit).toBe(2);
    expect(await json("audit", "verify", file, "--head", head)).toMatchObject({ ok: true, count: 2, head });
    expect((await run("audit", "export", "--from", "1")).out.trim().split("\n")).toHaveLength(1);

    writeFileSync(file, readFileSync(file, "utf8").replace("a test", "a lie"));
    expect(await run("audit", "verify", file)).toMatchObject({
      exit: 1,
      out: expect.stringContaining("not what was recorded  from entry 0 on"),
    });
    writeFileSync(file, out.split("\n").slice(0, 1).join("\n"));
    expect((await run("audit", "verify", file)).exit).toBe(0);
    expect((await run("audit", "verify", file, "--head", head)).exit).toBe(1); // Its end was cut off.
    expect((await run("audit", "verify", join(world.data, "none"))).exit).toBe(4);
  });
});
