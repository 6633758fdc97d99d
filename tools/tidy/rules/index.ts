import type { Rule } from "../tree.ts";
import { bans } from "./bans.ts";
import { errorPages } from "./error-pages.ts";
import { declaredDependencies, layers } from "./layers.ts";
import { machineTraces } from "./machine-traces.ts";
import { links, oneTitle } from "./markdown.ts";
import { purity } from "./purity.ts";
import { doors, reachable } from "./reachable.ts";
import { fileSize, functionSize } from "./size.ts";
import { testNames } from "./test-names.ts";

export function allRules(root: string): readonly Rule[] {
  const code = [layers, purity, declaredDependencies, reachable, doors, fileSize, functionSize, bans, testNames];
  return [...code, errorPages, oneTitle, links, machineTraces(root)];
}
