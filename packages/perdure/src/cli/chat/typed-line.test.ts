import { describe, expect, it } from "vitest";
import { CHAT_COMMANDS, CHAT_HELP, readTypedLine } from "./typed-line.ts";

describe("a typed line", () => {
  it("is a message, whose policy the agent chooses unless it is said", () => {
    expect(readTypedLine("  focus on tides \n", false)).toEqual({ kind: "message", text: "focus on tides" });
    for (const policy of ["steer", "queue", "interrupt", "restart", "collect"])
      expect(readTypedLine(`/${policy} and the moon`, false)).toEqual({
        kind: "message",
        text: "and the moon",
        policy,
      });
    expect(readTypedLine("//queue", false)).toEqual({ kind: "message", text: "/queue" });
    expect(readTypedLine("   ", true)).toEqual({ kind: "nothing" });
  });

  it("is a command, or says what is wrong with it", () => {
    expect(readTypedLine("/history 20", true)).toEqual({ kind: "command", name: "history", argument: "20" });
    expect(readTypedLine("/queue", false)).toEqual({
      kind: "wrong",
      why: "/queue goes with a message: /queue and then this",
    });
    expect(readTypedLine("/stpo", false)).toMatchObject({ kind: "wrong", why: expect.stringContaining("no /stpo") });
  });

  it("is an answer where something is asked, and nowhere else", () => {
    expect(readTypedLine("y", true)).toEqual({ kind: "answer", decision: "approved" });
    expect(readTypedLine("YES looks good", true)).toEqual({
      kind: "answer",
      decision: "approved",
      comment: "looks good",
    });
    expect(readTypedLine("n not today", true)).toEqual({ kind: "answer", decision: "rejected", comment: "not today" });
    expect(readTypedLine("y", false)).toEqual({ kind: "message", text: "y" });
    expect(readTypedLine("yesterday", true)).toEqual({ kind: "message", text: "yesterday" });
  });

  it("edits what is asked: alone, or with what is to be done instead", () => {
    expect(readTypedLine("e", true)).toEqual({ kind: "edit" });
    expect(readTypedLine('edit {"to": "bob"}', true)).toEqual({ kind: "edit", input: { to: "bob" } });
    expect(readTypedLine("edit the first part", true)).toEqual({ kind: "message", text: "edit the first part" });
  });

  it("help tells of every command", () => {
    for (const command of CHAT_COMMANDS) expect(CHAT_HELP).toContain(`/${command}`);
  });
});
