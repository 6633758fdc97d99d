// perdure chat, with real agents on a real runtime: what is shown, what is sent, what is answered, and restarts in between.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ChatWorld, Gate, hasResult, lastOf } from "./chat-world.ts";

let world: ChatWorld;
beforeEach(async () => {
  world = new ChatWorld();
  await world.start();
});
afterEach(() => world.close());

const count = (text: string, part: string): number => text.split(part).length - 1;

describe("talking", () => {
  it("shows a message accepted, seen and answered, and leaves when the input ends", async () => {
    world.script = (request) => ({ reasoning: "Let me think.", text: `You said: ${lastOf(request)}` });
    const chat = world.chat("a").say("hello");
    expect(await chat.end()).toBe(0);
    expect(chat.out.split("\n").map((line) => line.replace(/\d+ tokens/, "n tokens"))).toEqual([
      "boss/a: a new session. /help lists what you can do.",
      "✓ accepted",
      "✓✓ seen",
      "Let me think.",
      "You said: hello",
      "— answered · 1 call · n tokens",
      "",
    ]);
  });

  it("a message that fails is told by the exit code", async () => {
    world.script = () => ({ error: "invalid-key" });
    const chat = world.chat("a").say("hello");
    expect(await chat.end()).toBe(1);
    expect(chat.out).toMatch(/— failed: .*invalid_api_key|— failed: .*Incorrect API key/);
  });

  it("what is typed while the agent works steers it, unless another policy is said", async () => {
    const gate = new Gate();
    world.script = async (request) => {
      if (hasResult(request)) return `Done, and ${lastOf(request)}`;
      await gate.pass();
      return { toolCalls: [{ name: "nothing", input: {} }] };
    };
    const chat = world.chat("a").say("work");
    await gate.reached;
    chat.say("hurry").say("/queue and then rest").say("/hurry up");
    await chat.prints("there is no /hurry: /help lists what there is");
    gate.open();
    expect(await chat.end()).toBe(0);
    const said = (await world.transcript("a")).flatMap((item) => (item.type === "message" ? [item] : []));
    expect(said.map(({ text, policy }) => [text, policy])).toEqual([
      ["work", "steer"],
      ["hurry", "steer"],
      ["and then rest", "queue"],
    ]);
    expect(chat.out).toContain("Done, and hurry\n");
    expect(count(chat.out, "✓✓ seen")).toBe(3);
    expect(count(chat.out, "— answered")).toBe(2);
  });

  it("whoever joins while it works sees the turn from its beginning", async () => {
    const gate = new Gate();
    world.script = async (request) => {
      if (!hasResult(request)) return { text: "First this.", toolCalls: [{ name: "nothing", input: {} }] };
      await gate.pass();
      return "Then that.";
    };
    const one = world.chat("a").say("work");
    await gate.reached;
    const two = world.chat("a");
    await two.prints("First this.");
    expect(two.out).toContain("boss/a: at work.");
    expect(two.out).toContain("› work"); // Not its own.
    gate.open();
    await two.prints("Then that.\n— answered");
    expect([await one.end(), await two.end()]).toEqual([0, 0]);
    expect(count(two.out, "First this.")).toBe(1);
  });

  it("a sub-agent's words come where they belong", async () => {
    world.script = (request) =>
      hasResult(request) ? "So be it." : { toolCalls: [{ name: "delegate", input: { task: "write it" } }] };
    world.childScript = () => "A long story.";
    const chat = world.chat("a").say("go");
    expect(await chat.end()).toBe(0);
    expect(chat.out).toMatch(
      /⚙ delegate \{"task":"write it"\}\n→ clerk begins \((clerk-\S+)\)\nA long story\.\n\1 ▏— answered[^\n]*\n {2}✓ delegate A long story\.\nSo be it\./,
    );
  });

  it("/status, /history, /budget and /help show what there is", async () => {
    world.script = () => "I see.";
    const chat = world.chat("a").say("hello");
    await chat.prints("— answered");
    chat.say("/status").say("/history").say("/budget").say("/help");
    await chat.prints("leave; the agent goes on without you");
    expect(chat.out).toMatch(/^idle {2}run_1\w+ {2}2 items$/m);
    expect(chat.out).toContain("› hello\nI see.\n");
    expect(chat.err + chat.out).toContain("there is no budget boss/a");
    expect(await chat.say("/quit").ended).toBe(0);
  });
});

describe("stopping and leaving", () => {
  it("Ctrl-C stops the turn and keeps what it has said", async () => {
    world.script = () => ({ text: "one two three four", fault: { kind: "stall", afterTokens: 2 } });
    const chat = world.chat("a").say("count");
    await chat.prints("one two");
    chat.interrupt();
    await chat.prints("— stopped");
    const items = await world.transcript("a");
    expect(items.at(-1)).toMatchObject({ type: "assistant", partial: true, content: [{ text: "one two" }] });
    expect(await chat.end()).toBe(0);
  });

  it("leaving by a second Ctrl-C, or /quit, stops nothing", async () => {
    for (const leave of ["interrupt", "quit"]) {
      const gate = new Gate();
      world.script = async () => {
        await gate.pass();
        return "The end.";
      };
      const session = `by-${leave}`;
      const chat = world.chat(session);
      if (leave === "interrupt") {
        await chat.prints("a new session");
        chat.interrupt(); // Nothing works yet.
        await chat.prints("once more, or /quit, to leave");
      }
      chat.say("go");
      await gate.reached;
      if (leave === "quit") chat.say("/quit");
      else {
        await chat.prints("✓✓ seen");
        chat.interrupt();
        chat.interrupt();
      }
      expect(await chat.ended).toBe(0);
      gate.open();
      const later = world.chat(session).say("/queue and?");
      expect(await later.end()).toBe(0);
      const said = (await world.transcript(session)).filter(({ type }) => type === "assistant");
      expect(said.length).toBeGreaterThan(leave === "quit" ? 1 : 0);
    }
  });
});

describe("answering", () => {
  const asksForMail = (to = "bob"): void => {
    world.script = (request) =>
      hasResult(request) ? `So: ${lastOf(request)}` : { toolCalls: [{ name: "mail", input: { to } }] };
  };

  it("shows what will be done, and y has it done", async () => {
    asksForMail();
    const chat = world.chat("a").say("write to bob");
    await chat.prints('? boss wants to use mail\n  to: "bob"\n  y approves');
    expect(world.sentMail).toEqual([]);
    expect(await chat.say("y").end()).toBe(0);
    expect(world.sentMail).toEqual([{ to: "bob" }]);
    expect(chat.out).toContain("approved by ada");
    expect(count(chat.out, "? boss wants")).toBe(1);
  });

  it("n and a reason has it not done, and the agent is told", async () => {
    asksForMail();
    const chat = world.chat("a", "--as", "grace").say("write to bob");
    await chat.prints("? boss wants to use mail");
    expect(await chat.say("n not today").end()).toBe(0);
    expect(world.sentMail).toEqual([]);
    expect(chat.out).toContain("✗ mail denied grace said no: not today\n");
  });

  it("e with JSON has something else done; what is no JSON is a message", async () => {
    asksForMail();
    const chat = world.chat("a").say("write to bob");
    await chat.prints("? boss wants to use mail");
    chat.say("e");
    await chat.prints("type e and the JSON");
    expect(await chat.say('e {"to": "eve"}').end()).toBe(0);
    expect(world.sentMail).toEqual([{ to: "eve" }]);
  });

  it("a question of a sub-agent is answered here, too", async () => {
    world.script = (request) =>
      hasResult(request) ? "Good." : { toolCalls: [{ name: "delegate", input: { task: "write to bob" } }] };
    world.childScript = (request) =>
      hasResult(request) ? "It is sent." : { toolCalls: [{ name: "mail", input: { to: "bob" } }] };
    const chat = world.chat("a").say("go");
    await chat.prints("? clerk wants to use mail");
    expect(await chat.say("y").end()).toBe(0);
    expect(world.sentMail).toEqual([{ to: "bob" }]);
    expect(chat.out).toMatch(/It is sent\.\nclerk-call_1 ▏— answered[^\n]*\n {2}✓ delegate It is sent\.\nGood\./);
  });

  it("a budget that is used up asks here, and y raises it", async () => {
    const chat = world.type("chat", "miser", "--session", "a").say("one");
    await chat.prints("— answered");
    chat.say("two");
    await chat.prints("? raise the budget miser/a");
    chat.say("y");
    await chat.prints(/— answered[^]*— answered/);
    expect(await chat.say("/budget").end()).toBe(0);
    expect(chat.out).toContain("calls   2 of 2\n");
  });

  it("what somebody else has answered is not asked any more", async () => {
    asksForMail();
    const chat = world.chat("a").say("write to bob");
    await chat.prints("? boss wants to use mail");
    expect(await world.type("approvals", "approve", await onlyApproval(), "--as", "grace").ended).toBe(0);
    await chat.prints("approved by grace");
    await chat.prints("— answered");
    expect(await chat.say("y").end()).toBe(0); // A message, now.
    expect((await world.transcript("a")).filter((item) => item.type === "message")).toHaveLength(2);
  });

  it("whoever comes later is asked what is still open", async () => {
    asksForMail();
    const first = world.chat("a").say("write to bob");
    await first.prints("? boss wants to use mail");
    expect(await first.say("/quit").ended).toBe(0);
    const second = world.chat("a");
    await second.prints("? boss wants to use mail");
    second.say("y");
    await second.prints("— answered");
    expect(await second.end()).toBe(0);
    expect(world.sentMail).toEqual([{ to: "bob" }]);
  });

  async function onlyApproval(): Promise<string> {
    const answer = await fetch(`${world.serving.adminUrl}/approvals?status=open`);
    const { approvals } = (await answer.json()) as { readonly approvals: readonly { readonly id: string }[] };
    return approvals[0]?.id ?? "none";
  }
});

describe("when the runtime goes away", () => {
  it("the chat goes on by itself: nothing is lost, nothing is shown twice", async () => {
    let asked = 0;
    world.script = () => ({
      text: `one two three four`,
      ...((asked += 1) === 1 ? { fault: { kind: "stall" as const, afterTokens: 2 } } : {}),
    });
    const chat = world.chat("a").say("count");
    await chat.prints("one two");
    await world.restart(() => chat.prints("the runtime is away"));
    await chat.prints("— answered");
    expect(await chat.end()).toBe(0);
    expect(chat.out).toMatch(
      /one two\n\(the runtime is away; waiting for it\)\n\(it is back\)\n↻ once more[^\n]*\none two three four\n— answered/,
    );
    expect(count(chat.out, "✓✓ seen")).toBe(1);
  });

  it("what is typed meanwhile is sent once, when it is back", async () => {
    const chat = world.chat("a").say("one");
    await chat.prints("— answered");
    await world.restart(async () => {
      await chat.prints("the runtime is away");
      chat.say("two");
    });
    expect(await chat.end()).toBe(0);
    const said = (await world.transcript("a")).flatMap((item) => (item.type === "message" ? [item.text] : []));
    expect(said).toEqual(["one", "two"]);
    expect(count(chat.out, "I see.")).toBe(2);
  });
});

describe("for programs", () => {
  it("--json prints events as they come, a line each", async () => {
    const chat = world.chat("a", "--json").say("hello");
    expect(await chat.end()).toBe(0);
    const lines = chat.out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { type?: string; offset?: number; item?: { type: string } });
    expect(lines[0]).toMatchObject({ type: "accepted", text: "hello" });
    const events = lines.filter(({ item }) => item !== undefined);
    expect(events.map(({ item }) => item?.type)).toEqual(
      expect.arrayContaining(["turn-start", "message", "part", "turn-end"]),
    );
    expect(events.map(({ offset }) => offset)).toEqual(events.map((_, at) => at));
    expect(events[0]).toMatchObject({ agent: "boss", session: "a", writer: null });
  });

  it("--message prints the answer alone, and says what waits for a person", async () => {
    expect(await world.chat("a", "--message", "hello").ended).toBe(0);
    const plain = world.chat("b", "--message", "hello");
    await plain.ended;
    expect(plain.out).toBe("I see.\n");
    const json = world.chat("c", "--message", "hello", "--json");
    await json.ended;
    expect(JSON.parse(json.out)).toMatchObject({ result: { text: "I see.", reason: "answered" } });

    world.script = (request) =>
      hasResult(request) ? "Sent." : { toolCalls: [{ name: "mail", input: { to: "bob" } }] };
    const asking = world.chat("d", "--message", "write to bob");
    await asking.prints(/waits for an answer: boss wants to use mail\n.*approvals approve (apr_\w+)/);
    const [, id = ""] = /approve (apr_\w+)/.exec(asking.err) ?? [];
    expect(await world.type("approvals", "approve", id).ended).toBe(0);
    expect(await asking.ended).toBe(0);
    expect(asking.out).toBe("Sent.\n");
  });

  it("--message of what fails is exit code 1, an agent that is not there is 4", async () => {
    world.script = () => ({ error: "invalid-key" });
    expect(await world.chat("a", "--message", "hello").ended).toBe(1);
    const unknown = world.type("chat", "bos", "--message", "hello");
    expect(await unknown.ended).toBe(4);
    expect(unknown.err).toContain('there is no agent "bos": there are boss, clerk, miser');
  });
});
