// A package as a user writes it: files in a folder of their own, with everything installed that is installed here.

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleWith, type IsolateBundle } from "../bundle-module.ts";
import type { GuestModules } from "../isolate-plugin.ts";

export interface UserPackage {
  readonly folder: string;
  path(name: string): string;
  bundle(entry?: string): Promise<IsolateBundle>;
}

/** Stands for the guest: what is installed, and what is asked of the host, is seen from outside. */
const GUEST = `
  export function install(modules) { globalThis.user = modules[0]; }
  export function hostFunction(module, name) { return (...args) => ({ asked: module + "#" + name, args }); }
`;
const INSTALLED = fileURLToPath(new URL("../../../../../../node_modules", import.meta.url));

/**
 * @param files by their names; a package.json is added.
 * @param cleanUp is given what to do when the test is over.
 */
export function writePackage(files: Readonly<Record<string, string>>, cleanUp: (end: () => void) => void): UserPackage {
  const around = mkdtempSync(join(tmpdir(), "perdure-bundle-"));
  cleanUp(() => rmSync(around, { recursive: true, force: true }));
  const folder = join(around, "user");
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  write(join(folder, "package.json"), JSON.stringify({ name: "user", type: "module" }));
  for (const [name, text] of Object.entries(files)) write(join(folder, name), text);
  const guest = join(around, "guest.js");
  write(guest, GUEST);
  symlinkSync(INSTALLED, join(around, "node_modules"));
  const guests: GuestModules = { "@perdure/sdk/guest": guest };
  return {
    folder,
    path: (name) => join(folder, name),
    bundle: (entry = "agents.ts") => bundleWith({ entry: join(folder, entry) }, guests),
  };
}
