import { DefinitionError } from "@perdure/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { matchesGlob, parseGlob } from "./glob.ts";
import { parsePath, valueAt } from "./input-path.ts";
import { decide, permissions, restrict } from "./permissions.ts";
import type { InputPattern, PermissionRule, ToolCall } from "./types.ts";

const call = (tool: string, input: unknown = {}, more: Partial<ToolCall> = {}): ToolCall => ({
  tool,
  input,
  kind: "write",
  ...more,
});
const action = (rules: readonly PermissionRule[], asked: ToolCall): string =>
  decide(permissions(rules, "the test"), asked).action;

describe("the order of decisions", () => {
  const deny: PermissionRule = { tool: "bash", action: "deny" };

  test("the first rule that fits counts, however special a later one is", () => {
    const rules = permissions([{ tool: "*", action: "ask", reason: "all of it" }, deny], "the test");
    const verdict = decide(rules, call("bash"));
    expect(verdict).toMatchObject({ action: "ask", decided: { by: "rule", index: 0, rule: { tool: "*" } } });
    expect(verdict.why).toBe('rule 1 (tool "*"): all of it');
    expect(action([deny, { tool: "*", action: "ask" }], call("bash"))).toBe("deny");
  });

  test("a rule counts before the tool's own approval, and that before the default", () => {
    const asked = call("bash", {}, { approval: "always" });
    expect(action([{ tool: "bash", action: "allow" }], asked)).toBe("allow");
    expect(decide(permissions([{ tool: "other", action: "deny" }], "the test"), asked)).toMatchObject({
      action: "ask",
      decided: { by: "tool" },
    });
    expect(decide(permissions([], "x"), call("bash", {}, { approval: "never" }), { writes: "ask" }).action).toBe(
      "allow",
    );
  });

  test("a tool's own function sees the input", () => {
    const approval = (input: unknown): boolean => (input as { amount: number }).amount > 10;
    expect(action([], call("pay", { amount: 11 }, { approval }))).toBe("ask");
    expect(action([], call("pay", { amount: 10 }, { approval }))).toBe("allow");
  });

  test("the default of a kind: what writes is the agent's choice, what reads is not", () => {
    const none = permissions([], "the test");
    expect(decide(none, call("t"))).toMatchObject({ action: "allow", decided: { by: "default" } });
    expect(decide(none, call("t"), { writes: "ask" }).action).toBe("ask");
    expect(decide(none, call("t", {}, { kind: "read" }), { writes: "ask" }).action).toBe("allow");
  });
});

describe("a rule fits", () => {
  test.each<[string, string, boolean]>([
    ["bash", "bash", true],
    ["bash", "bash2", false],
    ["file.*", "file.read", true],
    ["file.*", "file", false],
    ["*", "anything", true],
    ["*.write", "file.write", true],
    ["mcp_?_get", "mcp_1_get", true],
  ])("tool %s on %s: %s", (tool, name, fits) => {
    expect(action([{ tool, action: "deny" }], call(name)) === "deny").toBe(fits);
  });

  const input = {
    command: "git push",
    count: 3,
    dry: false,
    none: null,
    to: { domain: "example.com" },
    files: [{ path: "a.md" }],
  };
  test.each<[string, InputPattern, boolean]>([
    ["command", "git push", true],
    ["command", "git pull", false],
    ["command", "git *", true],
    ["command", "git\\ *", true],
    ["command", "git \\*", false],
    ["command", /push$/, true],
    ["command", /pull$/, false],
    ["command", ["rm *", "git *"], true],
    ["command", ["rm *", /^hg/], false],
    ["count", 3, true],
    ["count", 4, false],
    ["count", "3", false],
    ["count", "*", false],
    ["count", /3/, false],
    ["dry", false, true],
    ["none", null, true],
    ["missing", null, false],
    ["missing", "*", false],
    ["missing", (value) => value === undefined, true],
    ["to.domain", "*.com", true],
    ["$.to.domain", "*.com", true],
    ["files[0].path", "*.md", true],
    ["files[1].path", "*", false],
    ["files.length", 1, true],
    ["$", (value) => (value as { count: number }).count === 3, true],
    ["count", (value, whole) => value === (whole as { count: number }).count, true],
    ["to.toString", () => true, true],
    ["to.constructor.name", "Object", false],
  ])("where %s is %s: %s", (path, pattern, fits) => {
    expect(action([{ tool: "t", when: { [path]: pattern }, action: "deny" }], call("t", input)) === "deny").toBe(fits);
  });

  test("where all of its conditions do", () => {
    const when = { command: "git *", "to.domain": "other.org" };
    expect(action([{ tool: "t", when, action: "deny" }], call("t", input))).toBe("allow");
    expect(
      action([{ tool: "t", when: { ...when, "to.domain": "example.com" }, action: "deny" }], call("t", input)),
    ).toBe("deny");
  });

  test("alike every time, though its expression remembers where it was", () => {
    const rules = permissions([{ tool: "t", when: { command: /git/g }, action: "deny" }], "the test");
    for (let times = 0; times < 3; times += 1) expect(decide(rules, call("t", input)).action).toBe("deny");
    const sticky = permissions([{ tool: "t", when: { command: /push/y }, action: "deny" }], "the test");
    expect(decide(sticky, call("t", input)).action).toBe("deny");
  });

  test.each([[undefined], [null], ["text"], [7], [[]]])("never by accident on an input that is %j", (odd) => {
    expect(action([{ tool: "t", when: { "a.b[0]": "*" }, action: "deny" }], call("t", odd))).toBe("allow");
  });
});

describe("a rule that cannot be meant is refused, with its place", () => {
  const refused = (rule: unknown): string => {
    try {
      permissions([{ tool: "ok", action: "allow" }, rule as PermissionRule], 'agent "researcher"');
    } catch (error) {
      expect(error).toBeInstanceOf(DefinitionError);
      return (error as DefinitionError).message;
    }
    return "nothing was refused";
  };

  test.each(["", "a..b", ".a", "a.", "a[", "a[x]", "a[-1]", "a]b", " a", "a[0]b", "$.", "$[x]", "files[*].path"])(
    "a path %j that no input has",
    (path) => {
      expect(refused({ tool: "bash", when: { [path]: "x" }, action: "deny" })).toMatch(
        /^rule 2 \(tool "bash"\) of agent "researcher": when\[".*"\] is no place in an input/s,
      );
    },
  );

  test.each<[string, object, string]>([
    ["no tool", { tool: "", action: "deny" }, "tool is the name of a tool"],
    ["an action that is none", { tool: "t", action: "refuse" }, 'not "refuse"'],
    ["an empty list", { tool: "t", when: { a: [] }, action: "deny" }, "nothing fits an empty list"],
    ["an empty list in a list", { tool: "t", when: { a: ["x", []] }, action: "deny" }, "2 of the list"],
    ["a glob that ends in nothing", { tool: "t", when: { a: "x\\" }, action: "deny" }, "ends in a \\"],
    ["an object as a value", { tool: "t", when: { a: { b: 1 } }, action: "deny" }, "an object fits nothing"],
    ["a number that equals none", { tool: "t", when: { a: Number.NaN }, action: "deny" }, "NaN fits nothing"],
    [
      "approvers where nobody is asked",
      { tool: "t", action: "deny", approvers: ["ada"] },
      'approvers goes with action "ask"',
    ],
    ["a duration that is none", { tool: "t", action: "ask", expires: "soon" }, '"soon" is not a duration'],
    [
      "an escalation after the end",
      { tool: "t", action: "ask", expires: "1h", escalate: [{ after: "2h", to: ["a"] }] },
      "2h",
    ],
    ["nobody who could answer", { tool: "t", action: "ask", approvers: [] }, "nobody could ever answer"],
  ])("%s", (_, rule, message) => {
    expect(refused(rule)).toMatch(/rule 2 \(tool ".*"\) of agent "researcher"/);
    expect(refused(rule)).toContain(message);
  });
});

describe("a function of a user", () => {
  const asked = (when: InputPattern): (() => unknown) => {
    const rules = permissions([{ tool: "t", when: { a: when }, action: "allow" }], "the test");
    return () => decide(rules, call("t"));
  };

  test("that fails ends the call, with its place and its cause", () => {
    const broken = asked(() => {
      throw new TypeError("of undefined");
    });
    expect(broken).toThrow(DefinitionError);
    expect(broken).toThrow('when["a"] of rule 1 (tool "t") of the test threw: of undefined');
  });

  test("that answers with a promise is not taken for a yes", () => {
    expect(asked((async () => false) as unknown as () => boolean)).toThrow("a promise: it cannot wait");
    expect(asked((() => 1) as unknown as () => boolean)).toThrow("answered with 1");
    const approval = (async () => false) as unknown as () => boolean;
    expect(() => action([], call("t", {}, { approval }))).toThrow('the approval of tool "t"');
  });
});

describe("a switch for writes", () => {
  const verdict = decide(permissions([{ tool: "t", action: "ask" }], "the test"), call("t"));

  test("only takes away", () => {
    expect(restrict(verdict, call("t"), { writes: "allow", target: "*" })).toBe(verdict);
    expect(restrict(verdict, call("t"), { writes: "ask", target: "*" })).toBe(verdict);
    const denied = restrict(verdict, call("t"), { writes: "deny", target: "*", by: "ada", reason: "night" });
    expect(denied).toMatchObject({ action: "deny", why: 'writes of "*" are set to "deny" by ada: night' });
  });

  test("leaves tools that read alone", () => {
    expect(restrict(verdict, { kind: "read" }, { writes: "deny", target: "*" })).toBe(verdict);
  });
});

describe("globs", () => {
  test("are what a regular expression says", () => {
    const glob = fc.string({ unit: fc.constantFrom("a", "b", "*", "?"), maxLength: 8 });
    const text = fc.string({ unit: fc.constantFrom("a", "b", "\n", "."), maxLength: 8 });
    fc.assert(
      fc.property(glob, text, (pattern, value) => {
        const expression = new RegExp(`^${pattern.replaceAll("*", ".*").replaceAll("?", ".")}$`, "s");
        expect(matchesGlob(parseGlob(pattern) ?? [], value)).toBe(expression.test(value));
      }),
      { numRuns: 2_000 },
    );
  });

  test("take a hostile text in a time that grows with its length", () => {
    const glob = parseGlob("*a".repeat(30)) ?? [];
    expect(matchesGlob(glob, `${"a".repeat(20_000)}b`)).toBe(false);
  });
});

describe("paths", () => {
  test("lead to what stands there", () => {
    const names = fc.array(fc.oneof(fc.stringMatching(/^[a-z_-]{1,5}$/), fc.nat(3)), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(names, fc.jsonValue(), (path, leaf) => {
        const text = path
          .map((part, i) => (typeof part === "number" ? `[${part}]` : i === 0 ? part : `.${part}`))
          .join("");
        const input = path.reduceRight<unknown>((inner, part) => {
          return typeof part === "number" ? [...Array.from({ length: part }, () => null), inner] : { [part]: inner };
        }, leaf);
        expect(parsePath(text)).toEqual(path);
        expect(valueAt(input, parsePath(text) ?? [])).toBe(leaf);
      }),
    );
  });
});
