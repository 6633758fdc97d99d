// Agents: which are served, their sessions, and what each does now.

import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { Bot, MessageSquarePlus, SearchX } from "lucide-react";
import { useRef, useState, type ReactNode } from "react";
import type { AgentSummary } from "@perdure/protocol";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { useHotkeys } from "../../keys/use-hotkeys.ts";
import { Button } from "../../ui/button.tsx";
import { CommandLine } from "../../ui/copy-button.tsx";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { visibleLine, visibleText } from "../../ui/visible-text.ts";
import type { AgentsSearch } from "./agents-search.ts";
import { NewSession } from "./new-session.tsx";
import { SessionsTable } from "./sessions-table.tsx";
import { useAgents, useSessions } from "./use-sessions.ts";
import "./agents.css";

const route = getRouteApi("/agents");

export function Agents(): ReactNode {
  const t = useMessages();
  const search = route.useSearch();
  const navigate = useNavigate();
  const agents = useAgents();
  const [isStarting, setStarting] = useState(false);
  const go = (next: AgentsSearch): void => void navigate({ to: "/agents", search: next, replace: true });
  useHotkeys([{ keys: "c", label: t.agents.start, run: () => setStarting(true) }]);
  if (agents.data === undefined)
    return (
      <div className="page">
        {agents.error === null ? (
          <Loading rows={8} />
        ) : (
          <Failed error={agents.error} onRetry={() => void agents.refetch()} />
        )}
      </div>
    );
  if (agents.data.length === 0) return <NoAgents />;
  return (
    <div className="agents-page">
      <div className="agents-head">
        <div className="page-head">
          <h1>{t.agents.title}</h1>
          <FindBox search={search} onSearch={go} />
          <Button look="primary" onClick={() => setStarting(true)}>
            <MessageSquarePlus aria-hidden />
            {t.agents.start}
          </Button>
        </div>
        <AgentCards agents={agents.data} search={search} onSearch={go} />
      </div>
      <Sessions search={search} agent={search.agent ?? agents.data[0]?.name ?? ""} />
      {isStarting ? <NewSession agents={agents.data} agent={search.agent} onClose={() => setStarting(false)} /> : null}
    </div>
  );
}

interface PartProps {
  readonly search: AgentsSearch;
  readonly onSearch: (search: AgentsSearch) => void;
}

function FindBox({ search, onSearch }: PartProps): ReactNode {
  const t = useMessages();
  const field = useRef<HTMLInputElement>(null);
  useHotkeys([{ keys: "/", label: t.common.keys.focusSearch, run: () => field.current?.focus() }]);
  return (
    <input
      ref={field}
      className="input agents-find"
      type="search"
      aria-label={t.agents.findLabel}
      placeholder={t.agents.findPlaceholder}
      value={search.find ?? ""}
      onChange={({ target: { value } }) => {
        const { find: _, ...rest } = search;
        onSearch(value === "" ? rest : { ...rest, find: value });
      }}
      onKeyDown={(event) => (event.key === "Escape" ? event.currentTarget.blur() : undefined)}
    />
  );
}

function AgentCards({ agents, search, onSearch }: PartProps & { readonly agents: readonly AgentSummary[] }): ReactNode {
  const t = useMessages().agents;
  const format = useFormat();
  const { agent: chosen, ...all } = search;
  const { sub: _, ...topOnly } = search;
  return (
    <div className="agent-cards">
      {agents.map(({ name, description, sessions, open }) => (
        <button
          key={name}
          type="button"
          className="agent-card"
          aria-pressed={chosen === name}
          title={description === null ? undefined : visibleText(description)}
          onClick={() => onSearch(chosen === name ? all : { ...search, agent: name })}
        >
          <Bot aria-hidden />
          <b className="cut">{visibleLine(name)}</b>
          <span className="dim">
            {t.sessions(sessions)}
            {open === 0 ? "" : ` · ${t.atWork(format.number(open))}`}
          </span>
          {description === null ? null : <span className="agent-description dim">{visibleText(description)}</span>}
        </button>
      ))}
      <Button
        size="s"
        aria-pressed={search.sub === "shown"}
        onClick={() => onSearch(search.sub === "shown" ? topOnly : { ...search, sub: "shown" })}
      >
        {t.subagents}
        <b>{search.sub === "shown" ? t.shown : t.hidden}</b>
      </Button>
    </div>
  );
}

function Sessions({ search, agent }: { readonly search: AgentsSearch; readonly agent: string }): ReactNode {
  const t = useMessages().agents;
  const found = useSessions(search);
  if (found.error !== null && found.sessions.length === 0) return <Failed error={found.error} onRetry={found.retry} />;
  if (found.isLoading) return <Loading rows={8} />;
  if (found.sessions.length > 0) return <SessionsTable found={found} />;
  if (search.find !== undefined)
    return (
      <Empty icon={<SearchX aria-hidden />} title={t.nothingFound}>
        <p>{t.nothingFoundHelp}</p>
      </Empty>
    );
  return (
    <Empty icon={<MessageSquarePlus aria-hidden />} title={t.none}>
      <p>{t.noneHelp}</p>
      <CommandLine command={`npx perdure chat ${agent} --session demo`} />
    </Empty>
  );
}

function NoAgents(): ReactNode {
  const t = useMessages().agents;
  return (
    <div className="page">
      <div className="page-head">
        <h1>{t.title}</h1>
      </div>
      <section className="panel">
        <Empty icon={<Bot aria-hidden />} title={t.noAgents}>
          <p>{t.noAgentsHelp}</p>
          <pre className="code-sample">{SAMPLE}</pre>
          <CommandLine command="npx perdure dev agents.ts" />
        </Empty>
      </section>
    </div>
  );
}

const SAMPLE = `import { agent } from "perdure";

export const assistant = agent("assistant", {
  model: "openai/gpt-5-mini",
  instructions: "You help with …",
});`;
