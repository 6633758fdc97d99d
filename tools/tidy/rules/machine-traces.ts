// What is committed speaks of the project, not of the machine it was written on.

import { homedir, tmpdir } from "node:os";
import { dirname } from "node:path";

import { lineAt, type Rule, type TextFile, type Violation } from "../tree.ts";

const HOSTS: readonly RegExp[] = [
  /"resolved":\s*"https?:[^"]*"/g,
  /https?:\/\/(?:[\w-]+\.)*registry\.[\w.-]+/g,
  /\bregistry\.(?:npmjs|yarnpkg|npmmirror)\.\w+/g,
  /^\s*(?:@[\w-]+:)?registry\s*=.*$/gm,
];
const HOMES: readonly RegExp[] = [/\/(?:home|Users)\/[a-z][\w.-]*\/[\w.-]+/g, /\b[A-Z]:\\Users\\\w+/g];

/** @param root where this checkout lies; it and what is around it must not be named. */
export function machineTraces(root: string): Rule {
  return {
    name: "no registry hosts and no paths of a machine",
    check: (tree) => {
      const here = ownFolders(root);
      return tree.files.flatMap((file) => [
        ...find(
          file,
          HOSTS,
          "a registry's host: the registry is the reader's choice (npm install rewrites the lock without)",
        ),
        ...find(file, HOMES, "a path of one machine: make it relative, or take it from the environment"),
        ...here.flatMap((folder) => findText(file, `${folder}/`, "a path of this machine: make it relative")),
      ]);
    },
  };
}

/** The checkout, the folder around it and the home folder, as far as they are specific enough to be searched for. */
function ownFolders(root: string): readonly string[] {
  const isSpecific = (folder: string) => folder !== "/" && folder !== tmpdir() && folder !== "/root";
  return [...new Set([root, dirname(root), homedir()])].filter(isSpecific);
}

function find(file: TextFile, patterns: readonly RegExp[], message: string): readonly Violation[] {
  return patterns
    .flatMap((pattern) => [...file.text.matchAll(pattern)])
    .map((match) => ({
      path: file.path,
      line: lineAt(file.text, match.index),
      message: `${match[0].trim()} is ${message}`,
    }));
}

function findText(file: TextFile, text: string, message: string): readonly Violation[] {
  const at = file.text.indexOf(text);
  return at === -1 ? [] : [{ path: file.path, line: lineAt(file.text, at), message: `${text} is ${message}` }];
}
