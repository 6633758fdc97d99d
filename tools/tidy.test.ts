// The house rules, kept by the whole repository. The rules are in tools/tidy/rules, the exceptions, each with a reason,
// in tools/tidy/exemptions.ts. That each rule can fail is shown in tools/tidy/rules.test.ts.

import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, test } from "vitest";

import { EXEMPTIONS, judge } from "./tidy/exemptions.ts";
import { allRules } from "./tidy/rules/index.ts";
import { readTree } from "./tidy/tree.ts";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const tree = readTree(root);
const rules = allRules(root);

describe("tidy", () => {
  for (const rule of rules) {
    test(rule.name, () => {
      expect(judge(rule.name, rule.check(tree), EXEMPTIONS)).toEqual([]);
    });
  }

  test("every exemption names a rule", () => {
    const names = rules.map(({ name }) => name);
    expect(EXEMPTIONS.filter(({ rule }) => !names.includes(rule))).toEqual([]);
  });
});
