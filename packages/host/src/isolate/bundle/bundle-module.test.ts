import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { loadHostModules } from "./host-modules.ts";
import { isolateOf as openIsolate, type TestIsolate } from "./testing/isolate.ts";
import { writePackage, type UserPackage } from "./testing/user-package.ts";

const userPackage = (files: Readonly<Record<string, string>>): UserPackage => writePackage(files, onTestFinished);
const isolateOf = (script: string): Promise<TestIsolate> => openIsolate(script, onTestFinished);

const refusal = (promise: Promise<unknown>): Promise<Error & { readonly code?: string }> =>
  promise.then(
    () => {
      throw new Error("it was bundled");
    },
    (error: unknown) => error as Error,
  );

describe("the code", () => {
  test("is one script that installs what the module exports", async () => {
    const { bundle } = userPackage({
      "agents.ts": `import { add } from "./lib/add.ts"; export const sum: number = add(1, 2); export type T = string;`,
      "lib/add.ts": `export const add = (a: number, b: number): number => a + b;`,
    });
    const isolate = await isolateOf((await bundle()).code);
    expect(isolate.evaluate("user.sum")).toBe(3);
  });

  test("is what the engine of isolates understands: using, fields, private methods, async generators, JSON, CommonJS", async () => {
    const { bundle } = userPackage({
      "agents.ts": `
        import data from "./data.json" with { type: "json" };
        import { double } from "./old.cjs";
        class Counter { static made = 0; #n = 1; get n() { return this.#twice(); } #twice() { return this.#n * 2; } static { Counter.made = 7; } }
        export async function all() {
          const closed: string[] = [];
          { using a = { [Symbol.dispose]: () => void closed.push("a") }; await using b = { [Symbol.asyncDispose]: async () => void closed.push("b") }; }
          async function* numbers() { yield 1; yield 2; }
          const seen = []; for await (const n of numbers()) seen.push(n);
          return { closed, seen, n: new Counter().n, made: Counter.made, data, double: double(4), last: [1, 2].at(-1), some: null ?? "x" };
        }`,
      "data.json": `{"a":[1]}`,
      "old.cjs": `exports.double = (n) => n * 2;`,
    });
    const isolate = await isolateOf((await bundle()).code);
    expect(isolate.evaluate("user.all()")).toEqual({
      closed: ["b", "a"],
      seen: [1, 2],
      n: 2,
      made: 7,
      data: { a: [1] },
      double: 8,
      last: 2,
      some: "x",
    });
  });

  test("is the same from the same sources, wherever they lie (B1)", async () => {
    const files = {
      "src/agents.ts": `import { z } from "zod"; import { b } from "./b.ts"; import { page } from "./desk.ts"; export const all = [z.number(), b, page];`,
      "src/b.ts": `export const b = new Error("b").message;`,
      "src/desk.ts": `"use host"; export const page = (): string => "";`,
    };
    const one = userPackage(files);
    const two = userPackage(files);
    const [first, second] = [await one.bundle("src/agents.ts"), await two.bundle("src/agents.ts")];
    expect(second.code).toBe(first.code);
    expect(second.sourceMap).toBe(first.sourceMap);
    expect(second.hash).toBe(createHash("sha256").update(first.code).digest("hex"));
    expect(first.code + first.sourceMap).not.toContain(one.folder);
  });

  test("answers what libraries ask of a process without looking whether there is one", async () => {
    const { bundle } = userPackage({
      "agents.ts": `export { mode } from "asks"; export const isNode = typeof process !== "undefined";`,
      "node_modules/asks/package.json": `{"name":"asks","main":"index.js"}`,
      "node_modules/asks/index.js": `exports.mode = process.env.NODE_ENV === "production" ? "production" : "development";`,
    });
    const isolate = await isolateOf((await bundle()).code);
    expect(isolate.evaluate("[user.mode, user.isNode]")).toEqual(["production", false]);
  });

  test("keeps names, so that a stack trace can be read, and its map leads to the line", async () => {
    const { bundle } = userPackage({
      "agents.ts": `import { name } from "./b.ts";\nclass Same {}\nexport const names = [name, Same.name];\nexport function fails(): string {\n  return new Error("here").stack ?? "";\n}`,
      "b.ts": `class Same {}\nexport const name = Same.name;`,
    });
    const { code, sourceMap } = await bundle();
    const isolate = await isolateOf(code);
    expect(isolate.evaluate("user.names")).toEqual(["Same", "Same"]);
    expect(isolate.evaluate("user.fails()")).toContain("at fails (isolate.js:");
    expect((JSON.parse(sourceMap) as { readonly sources: readonly string[] }).sources).toContain("agents.ts");
  });

  test("says which files it was made of", async () => {
    const { bundle, path } = userPackage({
      "agents.ts": `export * from "./b.ts"; export * from "./desk.ts";`,
      "b.ts": `export const b = 1;`,
      "desk.ts": `"use host"; export const page = (): string => "";`,
    });
    const { files } = await bundle();
    expect(files).toEqual(expect.arrayContaining([path("agents.ts"), path("b.ts"), path("desk.ts")]));
  });
});

describe("host modules", () => {
  const DESK = `
    "use host";
    import { readFileSync } from "node:fs";
    export const readPage = (path: string): string => readFileSync(path, "utf8");
    export default function twice(n: number): number { return n * 2; }
    export const LIMITS = { pages: 3, names: ["a", null], ["__proto__"]: 1 };
    export const NAME = "desk";
    export const NOTHING = undefined;
    export const BIG = 5n;
    export class Desk { static open() {} }
    export const since = new Date(0);
  `;
  const AGENTS = `import twice, * as desk from "./lib/desk.ts"; export const all = () => desk; export { twice };`;

  test("are not in the code: a function asks the host, plain data is a copy", async () => {
    const { bundle } = userPackage({ "agents.ts": AGENTS, "lib/desk.ts": DESK });
    const { code, hostModules } = await bundle();
    expect(hostModules.map(({ id }) => id)).toEqual(["lib/desk.ts"]);
    expect(code).not.toContain("readFileSync");
    const isolate = await isolateOf(code);
    expect(isolate.evaluate(`user.all().readPage("a", 1)`)).toEqual({ asked: "lib/desk.ts#readPage", args: ["a", 1] });
    expect(isolate.evaluate(`user.twice(2)`)).toEqual({ asked: "lib/desk.ts#default", args: [2] });
    expect(isolate.evaluate(`Object.keys(user.all().LIMITS)`)).toEqual(["pages", "names", "__proto__"]);
    expect(
      isolate.evaluate(`[user.all().LIMITS.names, user.all().NAME, "NOTHING" in user.all(), user.all().BIG === 5n]`),
    ).toEqual([["a", null], "desk", true, true]);
  });

  test("have classes and other values that throw where they are touched, and say so", async () => {
    const { bundle } = userPackage({ "agents.ts": AGENTS, "lib/desk.ts": DESK });
    const isolate = await isolateOf((await bundle()).code);
    expect(isolate.evaluate("new (user.all().Desk)()")).toEqual({
      threw: expect.stringMatching(/^"Desk" of lib\/desk.ts is a class, which stays in Node: .*Export a function/),
    });
    expect(isolate.evaluate("user.all().since.getTime()")).toEqual({
      threw: expect.stringContaining('"since" of lib/desk.ts is a value of class Date'),
    });
  });

  test("are loaded in Node by id and export", async () => {
    const { bundle, path } = userPackage({ "agents.ts": AGENTS, "lib/desk.ts": DESK });
    const { functions } = await loadHostModules(await bundle());
    expect([...functions.keys()]).toEqual(["lib/desk.ts#default", "lib/desk.ts#readPage"]);
    expect(functions.get("lib/desk.ts#readPage")?.(path("agents.ts"))).toBe(readFileSync(path("agents.ts"), "utf8"));
  });

  test("are known by the directive alone: not by the words in a comment, a string or further down", async () => {
    const { bundle } = userPackage({
      "agents.ts": `// "use host"\n"use strict";\nimport "./b.ts"; export const text = "use host";`,
      "b.ts": `const x = 1; "use host"; export { x };`,
      "c.ts": `// A comment.\n"use strict"; 'use host'; export const c = () => 1;`,
      "d.ts": `import { c } from "./c.ts"; export { c };`,
    });
    expect((await bundle()).hostModules).toEqual([]);
    expect((await bundle("d.ts")).hostModules.map(({ id }) => id)).toEqual(["c.ts"]);
  });

  test("that cannot be loaded are named", async () => {
    const { bundle } = userPackage({
      "agents.ts": `import { a } from "./desk.ts"; export const b = a;`,
      "desk.ts": `"use host"; throw new Error("no key is set"); export const a = 1;`,
    });
    expect(await refusal(bundle())).toMatchObject({
      code: "P0055",
      message: expect.stringMatching(/^desk.ts begins with "use host" and cannot be loaded: no key is set/),
    });
  });

  test("are not the module itself that is to run", async () => {
    const { bundle } = userPackage({ "agents.ts": `"use host"; export const a = () => 1;` });
    expect(await refusal(bundle())).toMatchObject({
      code: "P0055",
      message: expect.stringContaining("move the functions"),
    });
  });
});

const REFUSED: readonly {
  readonly what: string;
  readonly files: Readonly<Record<string, string>>;
  readonly says: RegExp;
}[] = [
  {
    what: "a builtin, through a module",
    files: {
      "agents.ts": `import { read } from "./lib/files.ts"; export const a = read;`,
      "lib/files.ts": `import { readFileSync } from "node:fs"; export const read = () => readFileSync("a");`,
    },
    says: /^agents.ts cannot run inside an isolate: it uses node:fs, which is there in Node only \(agents.ts → lib\/files.ts → node:fs\). Put what needs it into a module that begins with "use host", or use memory: "journal".$/,
  },
  {
    what: "a builtin with an equivalent",
    files: { "agents.ts": `import { randomUUID } from "node:crypto"; export const a = () => randomUUID();` },
    says: /\(agents.ts → node:crypto\). Use crypto.randomUUID\(\) and crypto.getRandomValues\(\) instead; else put/,
  },
  {
    what: "a builtin by its bare name",
    files: { "agents.ts": `import { cpus } from "os"; export const a = () => cpus();` },
    says: /it uses os, .*\(agents.ts → os\)/,
  },
  {
    what: "a builtin that is imported when it is needed",
    files: { "agents.ts": `export const a = async () => (await import("node:fs")).readFileSync("a");` },
    says: /\(agents.ts → node:fs\)/,
  },
  {
    what: "a builtin that CommonJS requires",
    files: {
      "agents.ts": `import a from "./old.cjs"; export { a };`,
      "old.cjs": `module.exports = require("zlib");`,
    },
    says: /\(agents.ts → old.cjs → zlib\)/,
  },
  {
    what: "a native addon",
    files: { "agents.ts": `import a from "./fast.node"; export { a };`, "fast.node": "" },
    says: /\.\/fast.node is machine code \(agents.ts → .\/fast.node\)/,
  },
  {
    what: "an asset",
    files: { "agents.ts": `import a from "./logo.png"; export { a };`, "logo.png": "" },
    says: /\.\/logo.png is no JavaScript, TypeScript or JSON .*Read it in a module that begins with "use host"/,
  },
  {
    what: "a package that is not installed",
    files: { "agents.ts": `import a from "not-installed-here"; export { a };` },
    says: /the package of "not-installed-here" is not found.*Install it/,
  },
  {
    what: "a file that is not there",
    files: { "agents.ts": `export * from "./gone.ts";` },
    says: /"\.\/gone.ts" is not found \(agents.ts → .\/gone.ts\). Write the path as the file is named/,
  },
  {
    what: "a wait at the top of a module",
    files: { "agents.ts": `export * from "./b.ts";`, "b.ts": `\nexport const a = await Promise.resolve(1);` },
    says: /it uses await at the top level of a module, .*\(b.ts:2\). Wait for it in the handler/,
  },
  {
    what: "its own place",
    files: { "agents.ts": `export const a = new URL("./a", import.meta.url);` },
    says: /it uses import.meta, and there are no files inside \(agents.ts\)/,
  },
  {
    what: "an import of a computed name",
    files: {
      "agents.ts": `export * from "./b.ts";`,
      "b.ts": `export const a = async (n: string) =>\n  await import(\`./\${n}.ts\`);`,
    },
    says: /imports a module whose name is computed, .*\(agents.ts → b.ts:2\). Write the names out/,
  },
  {
    what: "syntax that is none",
    files: { "agents.ts": `export * from "./b.ts";`, "b.ts": `export const = 1;` },
    says: /^agents.ts cannot run inside an isolate: .+ \(b.ts:1\)\. Mend it/,
  },
  {
    what: "an export that a module does not have",
    files: { "agents.ts": `export { gone } from "./b.ts";`, "b.ts": `export const a = 1;` },
    says: /"gone" is not exported by "b.ts"/,
  },
];

describe("what an isolate does not have (B2)", () => {
  test.each(REFUSED)("is refused: $what", async ({ files, says }) => {
    const error = await refusal(userPackage(files).bundle());
    expect(error).toMatchObject({ code: "P0055", message: expect.stringMatching(says) });
  });

  test("is said all at once", async () => {
    const { bundle } = userPackage({
      "agents.ts": `import fs from "node:fs"; import os from "node:os"; export const a = () => [fs.readFileSync, os.cpus()];`,
    });
    expect((await refusal(bundle())).message).toMatch(
      /for 2 reasons:\n {2}agents.ts → node:fs: .*\n {2}agents.ts → node:os: /,
    );
  });

  test("is no matter where the code that is left does not ask for it (P1)", async () => {
    const { bundle } = userPackage({
      "agents.ts": `import { pure } from "./lib.ts"; import type { Stats } from "node:fs"; export const a = (_?: Stats) => pure();`,
      "lib.ts": `import { readFileSync } from "node:fs"; export const pure = () => 1; export const read = () => readFileSync("a");`,
    });
    expect((await isolateOf((await bundle()).code)).evaluate("user.a()")).toBe(1);
  });

  test("is no matter where a dependency tries, and has an answer to its failure", async () => {
    const { bundle } = userPackage({
      "agents.ts": `import { kind } from "tries"; export { kind };`,
      "node_modules/tries/package.json": `{"name":"tries","main":"index.js"}`,
      "node_modules/tries/index.js": `let kind = "web"; try { require("node:crypto"); require("not-installed"); kind = "node"; } catch {} exports.kind = kind;`,
    });
    expect((await isolateOf((await bundle()).code)).evaluate("user.kind")).toBe("web");
  });

  test("has a package's form for the web instead, where it has one", async () => {
    const { bundle } = userPackage({
      "agents.ts": `import { where } from "forms"; export { where };`,
      "node_modules/forms/package.json": `{"name":"forms","exports":{"node":"./node.js","browser":"./web.js","default":"./node.js"}}`,
      "node_modules/forms/node.js": `import fs from "node:fs"; export const where = fs;`,
      "node_modules/forms/web.js": `export const where = "web";`,
    });
    expect((await isolateOf((await bundle()).code)).evaluate("user.where")).toBe("web");
  });
});
