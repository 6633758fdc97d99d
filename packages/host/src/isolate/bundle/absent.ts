// What a module asks for and an isolate does not have: how that is said
// =====================================================================
// No builtin of Node is mapped to a shim. Half a module is worse than none: what imports it comes further before it fails, and
// fails in a run. For what has an equivalent among the globals, the message names it.

import { stripVTControlCharacters } from "node:util";
import { IsolateModuleError } from "@perdure/protocol";
import { shownName, type Places } from "./places.ts";

export type AbsenceKind =
  | "builtin"
  | "native"
  | "asset"
  | "package"
  | "file"
  | "meta"
  | "computed"
  | "await"
  | "broken";

export interface Absence {
  readonly kind: AbsenceKind;
  /** As it is written in the source: `node:fs`, `./logo.png`, `import.meta`. */
  readonly what: string;
  /** Modules from the entry to the one that asks, as ids. */
  readonly chain: readonly string[];
  /** Where that is more than a place: a line, the parser's words. */
  readonly detail?: string;
}

/** Said of all at once: they are mended together. */
export function refusalFor(absences: readonly Absence[], places: Places): IsolateModuleError {
  const [only] = absences;
  const entry = shownName(places.entry, places);
  if (only !== undefined && absences.length === 1)
    return new IsolateModuleError(
      `${entry} cannot run inside an isolate: ${reasonOf(only)} (${chainOf(only, places)}). ${adviceFor(only)}`,
    );
  const lines = absences.map((one) => `  ${chainOf(one, places)}: ${reasonOf(one)}. ${adviceFor(one)}`);
  return new IsolateModuleError(
    `${entry} cannot run inside an isolate, for ${absences.length} reasons:\n${lines.join("\n")}`,
  );
}

function chainOf({ chain, what, kind, detail }: Absence, places: Places): string {
  const modules = chain.map((id) => shownName(id, places)).filter((name, at, all) => name !== all[at - 1]);
  const end = ["await", "meta", "computed", "broken"].includes(kind) ? [] : [what];
  return [...modules, ...end].join(" → ") + (detail === undefined ? "" : `:${detail}`);
}

function reasonOf({ kind, what }: Absence): string {
  switch (kind) {
    case "builtin":
      return `it uses ${what}, which is there in Node only`;
    case "native":
      return `${what} is machine code`;
    case "asset":
      return `${what} is no JavaScript, TypeScript or JSON`;
    case "package":
      return `the package of "${what}" is not found, or has nothing for such surroundings`;
    case "file":
      return `"${what}" is not found`;
    case "meta":
      return `it uses ${what}, and there are no files inside`;
    case "computed":
      return "it imports a module whose name is computed, and all modules are put together beforehand";
    case "await":
      return `it uses await at the top level of a module, where nothing can be waited for yet`;
    case "broken":
      return what;
    default:
      return kind satisfies never;
  }
}

const WAYS_OUT = 'put what needs it into a module that begins with "use host", or use memory: "journal"';

function adviceFor({ kind, what }: Absence): string {
  switch (kind) {
    case "builtin": {
      const global = GLOBALS[what.replace(/^node:/, "")];
      return global === undefined ? `${capital(WAYS_OUT)}.` : `Use ${global} instead; else ${WAYS_OUT}.`;
    }
    case "native":
    case "meta":
      return `${capital(WAYS_OUT)}.`;
    case "asset":
      return `Read it in a module that begins with "use host", or keep it as JSON.`;
    case "package":
      return `Install it; where it is for Node only, ${WAYS_OUT}.`;
    case "file":
      return "Write the path as the file is named, with its extension.";
    case "computed":
      return `Write the names out, or ${WAYS_OUT}.`;
    case "await":
      return "Wait for it in the handler, in a step.";
    case "broken":
      return "Mend it; Node runs it only so.";
    default:
      return kind satisfies never;
  }
}

/** Builtins of which something is a global, too. */
const GLOBALS: Readonly<Record<string, string>> = {
  buffer: "Uint8Array, TextEncoder, atob() and btoa()",
  crypto: "crypto.randomUUID() and crypto.getRandomValues()",
  events: "EventTarget",
  http: "fetch() in a step",
  https: "fetch() in a step",
  perf_hooks: "performance.now()",
  "stream/web": "ReadableStream, WritableStream and TransformStream, which are globals,",
  timers: "setTimeout() and its like, which are globals,",
  "timers/promises": "ctx.sleep()",
  url: "URL and URLSearchParams, which are globals,",
  util: "TextEncoder, TextDecoder and structuredClone(), which are globals,",
};

const capital = (text: string): string => `${text[0]?.toUpperCase()}${text.slice(1)}`;

// What the bundler itself stumbles over
// -------------------------------------

interface BundlerError {
  readonly code?: string;
  readonly message: string;
  readonly id?: string;
  readonly loc?: { readonly file?: string; readonly line: number; readonly column: number };
}

/** The bundler's failure in our words, as far as the user's module is the reason; else as it is. */
export function refusalOf(error: unknown, places: Places): unknown {
  const errors = (error as { readonly errors?: readonly BundlerError[] }).errors ?? [];
  const absences = errors.map((one) => absenceOf(one, places));
  return absences.length === 0 ? error : refusalFor(absences, places);
}

function absenceOf({ code, message, id, loc }: BundlerError, places: Places): Absence {
  const chain = [loc?.file ?? id ?? places.entry];
  const detail = loc === undefined ? {} : { detail: String(loc.line) };
  if (code === "INVALID_TLA_FORMAT") return { kind: "await", what: "await", chain, ...detail };
  return { kind: "broken", what: plain(message), chain, ...detail };
}

/** The first line of the bundler's report, without colours and its code. */
function plain(message: string): string {
  const text = stripVTControlCharacters(message).split("\n", 1)[0] ?? message;
  return text.replace(/^\[[A-Z_]+\]\s*/, "").replace(/\.$/, "");
}
