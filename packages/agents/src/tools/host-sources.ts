// Sources of tools that host modules export, as isolates ask for them: functions of the host.

import { DefinitionError, HostFunctionMissingError, sha256 } from "@perdure/protocol";
import { canonicalJson } from "../audit/canonical-json.ts";
import { HOST, OFFERED, TOOL, type HostTool } from "./host-tool.ts";
import type { OfferedTool, ToolSource } from "./tool-source.ts";
import type { AnyTool, ToolInfo } from "./tool.ts";

type HostFunctions = ReadonlyMap<string, (...args: readonly never[]) => unknown>;

/** @param exported what "use host" modules export, by `module#export`. */
export function hostSources(exported: ReadonlyMap<string, unknown>): HostFunctions {
  return new Map<string, (...args: readonly never[]) => unknown>([
    [
      `${HOST}#${OFFERED}`,
      async (name: string, info: { readonly signal: AbortSignal }): Promise<readonly HostTool[]> => {
        const source = known(name, exported);
        const offered = await source.offered(info);
        const shown = Object.entries(toolset(source, offered));
        return offered.map((one, at) => described(source, one, shown[at]));
      },
    ],
    [
      `${HOST}#${TOOL}`,
      (name: string, offered: OfferedTool, input: unknown, info: ToolInfo): unknown => {
        const [tool] = Object.values(toolset(known(name, exported), [offered]));
        return tool?.execute?.(input, { ...info, messages: [] });
      },
    ],
  ]);
}

/** In the order of the offer. */
function toolset(source: ToolSource, tools: readonly OfferedTool[]): Readonly<Record<string, AnyTool>> {
  return source.toolset({ hash: sha256(canonicalJson(tools)), tools });
}

function described(source: ToolSource, offered: OfferedTool, shown: readonly [string, AnyTool] | undefined): HostTool {
  const [name, tool] = shown ?? [offered.name, undefined];
  const approval = tool?.approval;
  if (typeof approval === "function")
    throw new DefinitionError(
      `the tool "${name}" of source "${source.source}" decides by a function whether a person is asked, and the agent lives in ` +
        'an isolate, where that function is not: say "always" or "never", or decide by permissions of the agent',
    );
  return { ...offered, shown: name, ...(approval === undefined ? {} : { approval }) };
}

function known(name: string, exported: ReadonlyMap<string, unknown>): ToolSource {
  const source = exported.get(name);
  if (source !== undefined) return source as ToolSource;
  const [module, key] = name.split("#");
  throw new HostFunctionMissingError(
    `a run asks the source of tools "${key}" of ${module}, which this deployment does not have. Deploy a module that exports it and resume the run.`,
  );
}
