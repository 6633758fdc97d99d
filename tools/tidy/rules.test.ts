// Each house rule on a small sample that breaks it, and on a like one that does not: a rule that cannot fail is none.

import { describe, expect, test } from "vitest";

import { EXEMPTIONS, judge } from "./exemptions.ts";
import { bans } from "./rules/bans.ts";
import { errorPages } from "./rules/error-pages.ts";
import { allRules } from "./rules/index.ts";
import { declaredDependencies, layers } from "./rules/layers.ts";
import { machineTraces } from "./rules/machine-traces.ts";
import { links, oneTitle } from "./rules/markdown.ts";
import { purity } from "./rules/purity.ts";
import { doors, reachable } from "./rules/reachable.ts";
import { fileSize, functionSize } from "./rules/size.ts";
import { testNames } from "./rules/test-names.ts";
import { type Rule, treeOf } from "./tree.ts";

type Files = Readonly<Record<string, string>>;

/** What a rule says about some files: "line message", the line first. */
function broken(rule: Rule, files: Files): readonly string[] {
  const tree = treeOf(Object.entries(files).map(([path, text]) => ({ path, text })));
  return rule.check(tree).map(({ path, line, message }) => `${path}:${line} ${message}`);
}

function manifest(name: string, rest: object = {}): string {
  return JSON.stringify({ name, ...rest });
}

const ENGINE = "packages/engine/src/loop.ts";
const HOST = "packages/host/src/serve.ts";
const packages: Files = {
  "package.json": manifest("root", { devDependencies: { vitest: "4" } }),
  "packages/protocol/package.json": manifest("@perdure/protocol"),
  "packages/engine/package.json": manifest("@perdure/engine", { dependencies: { "@perdure/protocol": "0" } }),
  "packages/host/package.json": manifest("@perdure/host"),
  "examples/hello/package.json": manifest("hello"),
};
const lines = (count: number) => "1;\n".repeat(count);

describe("layers", () => {
  test("an import against the direction breaks the rule, one along it does not", () => {
    expect(broken(layers, { ...packages, [ENGINE]: 'export * from "@perdure/host";' })).toHaveLength(1);
    expect(broken(layers, { ...packages, [ENGINE]: 'type T = import("@perdure/host/x").X;' })).toHaveLength(1);
    expect(broken(layers, { ...packages, [HOST]: 'import "@perdure/engine/testing";' })).toEqual([]);
    expect(broken(layers, { ...packages, "examples/hello/src/main.ts": 'import "@perdure/host";' })).toHaveLength(1);
  });

  test("a relative import may not leave its package", () => {
    expect(broken(layers, { ...packages, [ENGINE]: 'import "../../protocol/src/ids.ts";' })).toHaveLength(1);
    expect(broken(layers, { ...packages, [ENGINE]: 'import "./limits.ts";' })).toEqual([]);
  });

  test("a scenario in a package's test folder may import any package", () => {
    expect(broken(layers, { ...packages, "packages/engine/test/a.test.ts": 'import "@perdure/host";' })).toEqual([]);
  });

  test("a package without a row in the table breaks the rule", () => {
    expect(broken(layers, { "packages/other/package.json": manifest("other") })).toHaveLength(1);
  });
});

describe("purity", () => {
  test.for([
    "Date.now();",
    "export const at = new Date(0);",
    "const clock = { Date };",
    "Math.random();",
    "setTimeout(() => {}, 1);",
    "setInterval(() => {}, 1);",
    "setImmediate(() => {});",
    "await fetch(url);",
    "process.env;",
    "console.log(1);",
    "globalThis.Date;",
    'import { readFileSync } from "node:fs";',
  ])("the engine may not say %s", (source) => {
    expect(broken(purity, { [ENGINE]: source })).toHaveLength(1);
    expect(broken(purity, { [HOST]: source })).toEqual([]);
    expect(broken(purity, { "packages/engine/src/loop.test.ts": source })).toEqual([]);
  });

  test("the message names the replacement", () => {
    expect(broken(purity, { [ENGINE]: "\nDate.now();" })).toEqual([
      `${ENGINE}:2 Date is banned here: take \`now: Instant\` as an argument`,
    ]);
  });

  test("members, strings and names of one's own are not globals", () => {
    const source =
      'ports.fetch(); x = { process: 1, console() {} }; "Date.now()"; function f({ process }) { process(); }';
    expect(broken(purity, { [ENGINE]: source })).toEqual([]);
  });

  test("the sdk may take what every environment has, but nothing of Node", () => {
    const sdk = "packages/sdk/src/client.ts";
    expect(broken(purity, { [sdk]: "await fetch(url);" })).toEqual([]);
    expect(broken(purity, { [sdk]: 'import "node:fs";' })).toHaveLength(1);
  });
});

describe("declared dependencies", () => {
  test("an import that the package.json does not list breaks the rule", () => {
    expect(broken(declaredDependencies, { ...packages, [HOST]: 'import "@perdure/engine";' })).toHaveLength(1);
    expect(broken(declaredDependencies, { ...packages, [ENGINE]: 'import "@perdure/protocol";' })).toEqual([]);
  });

  test("what only the root lists is for tests", () => {
    expect(broken(declaredDependencies, { ...packages, [ENGINE]: 'import "vitest";' })).toHaveLength(1);
    expect(broken(declaredDependencies, { ...packages, "packages/engine/src/a.test.ts": 'import "vitest";' })).toEqual(
      [],
    );
  });

  test("a module of Node is written with its prefix", () => {
    expect(broken(declaredDependencies, { ...packages, [HOST]: 'import "fs";' })).toHaveLength(1);
    expect(broken(declaredDependencies, { ...packages, [HOST]: 'import "node:fs";' })).toEqual([]);
  });
});

describe("reachable", () => {
  test("a file that nobody imports breaks the rule", () => {
    expect(broken(reachable, { ...packages, [HOST]: "export const a = 1;" })).toHaveLength(1);
    const entry = manifest("@perdure/host", { exports: { ".": { source: "./src/serve.ts" } } });
    expect(broken(reachable, { "packages/host/package.json": entry, [HOST]: "export const a = 1;" })).toEqual([]);
  });

  test("a file that only its test imports breaks the rule", () => {
    const test = { "packages/host/src/serve.test.ts": 'import "./serve.ts";' };
    expect(broken(reachable, { ...packages, [HOST]: "export const a = 1;", ...test })).toHaveLength(1);
  });

  test("a worker is reached by its name", () => {
    const main = { "examples/hello/src/main.ts": 'new Worker(new URL("./worker.js", import.meta.url));' };
    const worker = { "examples/hello/src/worker.ts": "export const a = 1;" };
    expect(broken(reachable, { ...packages, ...worker })).toHaveLength(1);
    expect(broken(reachable, { ...packages, ...worker, ...main })).toEqual([]);
  });

  test("an import with a hole in its name reaches the files that it can mean", () => {
    const main = { "examples/hello/src/main.ts": "await import(`./parts/${name}.ts`);" };
    const part = { "examples/hello/src/parts/one.ts": "export const a = 1;" };
    const deeper = { "examples/hello/src/parts/more/two.ts": "export const a = 1;" };
    expect(broken(reachable, { ...packages, ...main, ...part })).toEqual([]);
    expect(broken(reachable, { ...packages, ...main, ...part, ...deeper })).toHaveLength(1);
  });

  test("exports and bin must lead to files", () => {
    const bin = manifest("perdure", { bin: { perdure: "./bin/perdure.mjs" } });
    expect(broken(doors, { "packages/perdure/package.json": bin })).toHaveLength(1);
    expect(broken(doors, { "packages/perdure/package.json": bin, "packages/perdure/bin/perdure.mjs": "" })).toEqual([]);
  });
});

describe("size", () => {
  test("a file of 601 lines breaks the rule, one of 600 does not", () => {
    expect(broken(fileSize, { [HOST]: lines(601) })).toHaveLength(1);
    expect(broken(fileSize, { [HOST]: lines(600) })).toEqual([]);
  });

  test("a function of 71 lines breaks the rule, one of 70 does not", () => {
    expect(broken(functionSize, { [HOST]: `function f() {\n${lines(69)}}` })).toHaveLength(1);
    expect(broken(functionSize, { [HOST]: `const f = () => {\n${lines(68)}};` })).toEqual([]);
    expect(broken(functionSize, { [HOST]: `class A { f() {\n${lines(69)}} }` })).toHaveLength(1);
  });

  test("a suite is not as long as its tests, but each test counts", () => {
    const suite = (count: number) => `describe("a", () => {\n${`test("b", () => {\n${lines(count)}});\n`.repeat(3)}});`;
    expect(broken(functionSize, { [HOST]: suite(60) })).toEqual([]);
    expect(broken(functionSize, { [HOST]: suite(69) })).toHaveLength(3);
  });
});

describe("bans", () => {
  test.for([
    `// ${"TO" + "DO"}: later`,
    `// ${"FIX" + "ME"}`,
    `// @ts-${"ign" + "ore"}`,
    `x = element("p", { ${"dangerouslySet" + "InnerHTML"}: { __html: text } });`,
    `element.${"inner" + "HTML"} = text;`,
    "debugger;",
    "const a = b as any;",
    'describe.only("a", () => {});',
    'test.each([1]).only("a", () => {});',
    "enum A { B }",
    "try { f(); } catch {}",
    "try { f(); } catch (error) { }",
  ])("%s breaks the rule", (source) => {
    expect(broken(bans, { [HOST]: source })).toHaveLength(1);
  });

  test("reasons, members of other things, and mere words do not", () => {
    const source =
      'try { f(); } catch { /* It was closed already. */ }\nfilter.only; "as any"; x as unknown as string;';
    expect(broken(bans, { [HOST]: source })).toEqual([]);
  });
});

describe("error pages", () => {
  const errors = "packages/protocol/src/errors.ts";
  const source = 'class A { static override readonly code: string = "P0001"; }';

  test("a code without a page and a page without a code break the rule", () => {
    expect(broken(errorPages, { [errors]: source })).toHaveLength(1);
    expect(broken(errorPages, { "docs/errors/P0001.md": "# P0001 It broke" })).toHaveLength(1);
    expect(broken(errorPages, { [errors]: source, "docs/errors/P0001.md": "# P0001 It broke" })).toEqual([]);
  });

  test("codes may stand in a table, and belong to one error each", () => {
    const page = { "docs/errors/P0001.md": "# P0001 It broke" };
    expect(broken(errorPages, { [errors]: '({ code: "P0001" })', ...page })).toEqual([]);
    expect(broken(errorPages, { [errors]: `${source}\n${source}`, ...page })).toHaveLength(1);
  });

  test("a page whose title does not begin with its code breaks the rule", () => {
    expect(broken(errorPages, { [errors]: source, "docs/errors/P0001.md": "# It broke" })).toHaveLength(1);
  });
});

describe("markdown", () => {
  test("no title and two titles break the rule, a comment in fenced code does not count", () => {
    expect(broken(oneTitle, { "a.md": "## A" })).toHaveLength(1);
    expect(broken(oneTitle, { "a.md": "# A\n\n# B" })).toEqual(["a.md:3 a second title: use `## `"]);
    expect(broken(oneTitle, { "a.md": "# A\n\n```sh\n# B\n```\n" })).toEqual([]);
  });

  test("links to files, folders and headings must lead somewhere", () => {
    const there = { "docs/b.md": "# B\n\n## The `x` of b\n", "docs/c/d.png.txt": "" };
    expect(broken(links, { "a.md": "[b](docs/z.md)", ...there })).toHaveLength(1);
    expect(broken(links, { "a.md": "[b](docs/b.md#the-y-of-b)", ...there })).toHaveLength(1);
    expect(broken(links, { "a.md": "[b][1]\n\n[1]: docs/z.md", ...there })).toHaveLength(1);
    expect(broken(links, { "a.md": "[b](docs/b.md#the-x-of-b) [c](docs/c/) [d](https://e.org/f)", ...there })).toEqual(
      [],
    );
    expect(broken(links, { "docs/a.md": "[a](../a.md) `[b](z.md)`", "a.md": "# A" })).toEqual([]);
  });
});

describe("machine traces", () => {
  const rule = machineTraces("/srv/checkouts/perdure");

  test.for([
    `"resolved": "${"https:"}//packages.example.org/a.tgz"`,
    `${"https:"}//${"registry"}.example.org/`,
    `${"registry"}=something`,
    `/${"home"}/anna/projects/a.ts`,
    "/srv/checkouts/perdure/tools/a.ts",
    "/srv/checkouts/other/a.ts",
  ])("%s breaks the rule", (text) => {
    expect(broken(rule, { "docs/a.md": text })).not.toEqual([]);
  });

  test("relative and well-known paths, and things named so, do not", () => {
    expect(broken(rule, { "docs/a.md": "tools/a.ts /usr/bin/env /tmp/x registry.get(name)" })).toEqual([]);
  });
});

describe("test names", () => {
  const path = "packages/host/src/a.test.ts";

  test("two tests of one name break the rule, unless their suites differ", () => {
    expect(broken(testNames, { [path]: 'test("a", () => {});\nit("a", () => {});' })).toHaveLength(1);
    const suites = 'describe("a", () => { test("c", () => {}); }); describe("b", () => { test("c", () => {}); });';
    expect(broken(testNames, { [path]: suites })).toEqual([]);
    expect(broken(testNames, { [path]: suites.replace('"b"', '"a"') })).toHaveLength(1);
  });
});

describe("exemptions", () => {
  const violation = { path: "a.ts", line: 1, message: "is bad" };
  const exemption = { rule: "r", path: "a.ts", reason: "it is generated" };

  test("an exemption excuses its path, and fails where there is nothing to excuse", () => {
    expect(judge("r", [violation], [])).toEqual(["a.ts:1 is bad"]);
    expect(judge("r", [violation], [exemption])).toEqual([]);
    expect(judge("r", [], [exemption])).toHaveLength(1);
  });

  test("each of them has a reason, and rules have names of their own", () => {
    expect(EXEMPTIONS.filter(({ reason }) => reason.length < 10)).toEqual([]);
    const names = allRules("/srv/perdure").map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });
});
