// The code of a user's module as one classic script, to be run inside an isolate
// ==============================================================================
// B1. Equal sources give equal bytes: no absolute path, no time and no order of reading gets into the code.
// B2. What an isolate does not have is said here, with the chain of imports that leads to it, and not at 3 o'clock in the
//     middle of a run (absent.ts).
// B3. A module that opens with "use host" is not in the code: a stub of its exports is (host-modules.ts).
//
// The script evaluates the guest's globals, then the user's module, and installs what that exports. It is not minified:
// stack traces are for people. Top-level await is refused: a classic script has none, and an isolate whose module is still
// waiting would be one more state that an image can be in.

import { createHash } from "node:crypto";
import { rolldown, type OutputChunk, type OutputOptions, type RolldownOptions, type RolldownOutput } from "rolldown";
import { refusalOf } from "./absent.ts";
import type { HostModule } from "./host-modules.ts";
import { ENTRY, IsolatePlugin, type GuestModules } from "./isolate-plugin.ts";
import { placesOf, type Places } from "./places.ts";

export interface IsolateBundle {
  /** A classic script. */
  readonly code: string;
  /** SHA-256 of the code, hex. */
  readonly hash: string;
  /** What runs in Node, by the ids under which the code asks for it. */
  readonly hostModules: readonly HostModule[];
  /** Everything that was read, as absolute paths: what to watch. */
  readonly files: readonly string[];
  /** Version 3, with the sources. */
  readonly sourceMap: string;
}

export interface BundleOptions {
  /** Absolute path of the user's module. */
  readonly entry: string;
}

/** @throws IsolateModuleError where the module, or what it imports, cannot be had inside an isolate. */
export function bundleModule(options: BundleOptions): Promise<IsolateBundle> {
  return bundleWith(options, {});
}

/** @param guest other files in the place of `@perdure/sdk/guest…`, by their specifiers. */
export async function bundleWith({ entry }: BundleOptions, guest: GuestModules): Promise<IsolateBundle> {
  const places = placesOf(entry);
  const plugin = new IsolatePlugin(places, guest);
  const { output } = await build(plugin, places);
  const chunk = output.find((part): part is OutputChunk => part.type === "chunk");
  if (chunk?.map === undefined || chunk.map === null) throw new Error("the bundler made no code of an entry");
  const refusal = plugin.refusal(chunk);
  if (refusal !== undefined) throw refusal;
  return {
    code: chunk.code,
    hash: createHash("sha256").update(chunk.code).digest("hex"),
    hostModules: plugin.hostModules(),
    files: plugin.files(),
    sourceMap: chunk.map.toString(),
  };
}

async function build(plugin: IsolatePlugin, places: Places): Promise<RolldownOutput> {
  try {
    await using bundler = await rolldown(inputOptions(plugin, places));
    return await bundler.generate(outputOptions(plugin, places));
  } catch (error) {
    throw plugin.refused ?? refusalOf(error, places);
  }
}

/** An isolate is a web-like place without a document: `worker` and `browser` name what packages have for such. Never `node`. */
const CONDITIONS = ["perdure-isolate", "worker", "browser", "import", "module", "default"];

function inputOptions(plugin: IsolatePlugin, { root }: Places): RolldownOptions {
  const fromSources = import.meta.url.endsWith(".ts");
  return {
    input: ENTRY,
    cwd: root,
    platform: "neutral",
    tsconfig: false, // Node does not read it either when it runs the same module.
    resolve: {
      conditionNames: fromSources ? ["perdure-source", ...CONDITIONS] : CONDITIONS,
      mainFields: ["browser", "module", "main"],
    },
    // Half of all libraries ask it without asking whether there is a process.
    transform: { define: { "process.env.NODE_ENV": JSON.stringify("production") } },
    experimental: { attachDebugInfo: "none" },
    plugins: [plugin.hooks()],
    onLog: (_, log) => plugin.heed(log),
  };
}

function outputOptions(plugin: IsolatePlugin, { root }: Places): OutputOptions {
  return {
    format: "iife",
    exports: "none",
    codeSplitting: false,
    comments: false,
    globals: (id) => plugin.markOf(id),
    keepNames: true,
    sourcemap: "hidden",
    sourcemapPathTransform: (source) => (source.includes("\0") ? source.slice(source.indexOf("\0") + 1) : source),
    file: `${root}/isolate.js`,
  };
}
