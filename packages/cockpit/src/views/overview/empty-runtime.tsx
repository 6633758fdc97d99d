import { useQuery } from "@tanstack/react-query";
import { Sprout } from "lucide-react";
import type { ReactNode } from "react";
import type { ServiceManifest, ServicesAnswer } from "@perdure/protocol";
import { useApi } from "../../app/app-context.ts";
import { useMessages } from "../../i18n/use-messages.ts";
import { CommandLine } from "../../ui/copy-button.tsx";
import { Empty } from "../../ui/states.tsx";

const SHOWN_MAX = 8;

/** What to do when nothing has run yet: the commands that start what is served. */
export function EmptyRuntime(): ReactNode {
  const t = useMessages().overview.empty;
  const api = useApi();
  const { data } = useQuery({
    queryKey: ["services"],
    queryFn: ({ signal }) => api.get<ServicesAnswer>("/services", { signal }),
    staleTime: 60_000,
  });
  const commands = (data?.services ?? []).flatMap(commandsFor).slice(0, SHOWN_MAX);
  return (
    <section className="panel">
      <Empty icon={<Sprout aria-hidden />} title={t.title}>
        <p>{t.help}</p>
        {data === undefined ? null : commands.length === 0 ? <p>{t.nothingServed}</p> : <p>{t.served}</p>}
        {commands.map((command) => (
          <CommandLine key={command} command={command} />
        ))}
      </Empty>
    </section>
  );
}

export function commandsFor({ name, kind, agent, handlers }: ServiceManifest): readonly string[] {
  if (name.startsWith("perdure.")) return [];
  const key = kind === "service" ? "" : agent === true ? "/my-session" : "/my-key";
  return handlers
    .filter(({ internal, mode }) => internal !== true && mode !== "shared")
    .map(({ name: handler, inputSchema }) => {
      const input = inputSchema === undefined ? "" : ` '${JSON.stringify(exampleOf(inputSchema))}'`;
      return `npx perdure send ${name}${key}/${handler}${input}`;
    });
}

/** The least that a schema asks for, to be changed by whoever copies it. */
function exampleOf(schema: object): unknown {
  const {
    type,
    properties,
    required,
    enum: values,
    items,
  } = schema as {
    readonly type?: string;
    readonly properties?: Readonly<Record<string, object>>;
    readonly required?: readonly string[];
    readonly enum?: readonly unknown[];
    readonly items?: object;
  };
  if (values !== undefined) return values[0];
  switch (type) {
    case "object":
      return Object.fromEntries((required ?? []).map((name) => [name, exampleOf(properties?.[name] ?? {})]));
    case "array":
      return items === undefined ? [] : [exampleOf(items)];
    case "string":
      return "…";
    case "number":
    case "integer":
      return 1;
    case "boolean":
      return true;
    default:
      return null;
  }
}
