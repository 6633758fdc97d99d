// What is served: services, objects, workflows and agents with their handlers, and the deployment that runs them.

import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Boxes, Search } from "lucide-react";
import { useRef, useState, type ReactNode } from "react";
import { BUILT_IN_PREFIX, type ServiceManifest } from "@perdure/protocol";
import { useMessages } from "../../i18n/use-messages.ts";
import { useHotkeys } from "../../keys/use-hotkeys.ts";
import { Button } from "../../ui/button.tsx";
import { CommandLine } from "../../ui/copy-button.tsx";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import { Bundles } from "./bundles.tsx";
import { Deployments } from "./deployments.tsx";
import { KindBadge } from "./kind-badge.tsx";
import { MemoryTag } from "./memory-tag.tsx";
import type { ServicesSearch } from "./services-search.ts";
import { useServices } from "./use-services.ts";
import "./services.css";

export function Services(): ReactNode {
  const t = useMessages().services;
  const search = useSearch({ from: "/services" });
  const { data, error, refetch } = useServices();
  const found = (data ?? []).filter((service) => isFound(service, search));
  return (
    <div className="page services-page">
      <div className="page-head">
        <h1>{t.title}</h1>
      </div>
      <Filters search={search} />
      {error === null ? null : <Failed error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null ? <Loading /> : null}
      {data === undefined ? null : <List services={found} isFiltered={search.find !== undefined} />}
      <Deployments />
      <Bundles />
    </div>
  );
}

function isFound({ name, description = "", handlers }: ServiceManifest, { find = "", own }: ServicesSearch): boolean {
  if (own !== "shown" && name.startsWith(BUILT_IN_PREFIX)) return false;
  const text = [name, description, ...handlers.map((handler) => `${handler.name} ${handler.description ?? ""}`)];
  return text.join(" ").toLowerCase().includes(find.toLowerCase());
}

function Filters({ search }: { readonly search: ServicesSearch }): ReactNode {
  const t = useMessages();
  const navigate = useNavigate({ from: "/services" });
  const field = useRef<HTMLInputElement>(null);
  useHotkeys([{ keys: "/", label: t.common.keys.focusSearch, run: () => field.current?.focus() }]);
  const set = (next: ServicesSearch): void => void navigate({ search: next, replace: true });
  const { find: _, own: __, ...none } = search;
  const isShown = search.own === "shown";
  return (
    <div className="services-filters">
      <div className="search-field">
        <Search aria-hidden />
        <input
          ref={field}
          className="input"
          type="search"
          aria-label={t.services.find}
          placeholder={t.services.find}
          value={search.find ?? ""}
          onChange={({ target }) => set({ ...none, ...(isShown ? { own: "shown" } : {}), find: target.value })}
        />
        <kbd>/</kbd>
      </div>
      <Button
        size="s"
        aria-pressed={isShown}
        onClick={() =>
          set({ ...(search.find === undefined ? {} : { find: search.find }), ...(isShown ? {} : { own: "shown" }) })
        }
      >
        {t.runs.filters.own}
        <b>{isShown ? t.runs.filters.shown : t.runs.filters.hidden}</b>
      </Button>
    </div>
  );
}

interface ListProps {
  readonly services: readonly ServiceManifest[];
  readonly isFiltered: boolean;
}

function List({ services, isFiltered }: ListProps): ReactNode {
  const t = useMessages();
  const navigate = useNavigate();
  const [current, setCurrent] = useState<string | null>(null);
  const at = services.findIndex(({ name }) => name === current);
  const move = (by: number): void => {
    const next = services[Math.min(services.length - 1, Math.max(0, at < 0 ? 0 : at + by))];
    if (next === undefined) return;
    setCurrent(next.name);
    document.getElementById(`service-${next.name}`)?.scrollIntoView({ block: "nearest" });
  };
  const open = (): void => {
    if (current !== null) void navigate({ to: "/services/$service", params: { service: current } });
  };
  useHotkeys([
    { keys: "j", label: t.common.keys.next, run: () => move(1) },
    { keys: "k", label: t.common.keys.previous, run: () => move(-1) },
    { keys: "Enter", label: t.common.keys.open, run: open },
  ]);
  if (services.length === 0)
    return (
      <Empty icon={<Boxes aria-hidden />} title={isFiltered ? t.services.noneFound : t.services.none}>
        <p>{isFiltered ? t.services.noneFoundHelp : t.services.noneHelp}</p>
        {isFiltered ? null : <CommandLine command="npx perdure dev src/main.ts" />}
      </Empty>
    );
  return (
    <ul className="service-list panel">
      {services.map((service) => (
        <Row key={service.name} service={service} isCurrent={service.name === current} />
      ))}
    </ul>
  );
}

const HANDLERS_SHOWN = 6;

function Row({ service, isCurrent }: { readonly service: ServiceManifest; readonly isCurrent: boolean }): ReactNode {
  const t = useMessages().services;
  const { name, description, handlers } = service;
  const open = handlers.filter(({ internal }) => internal !== true);
  const rest = open.length - HANDLERS_SHOWN;
  return (
    <li id={`service-${name}`} className="service-row" data-current={isCurrent || undefined}>
      <div className="service-name">
        <Link to="/services/$service" params={{ service: name }}>
          {visibleLine(name)}
        </Link>
        <KindBadge service={service} />
        {service.memory === "snapshot" ? <MemoryTag service={service} /> : null}
      </div>
      <p className="dim">{description === undefined ? "" : visibleLine(description)}</p>
      <div className="service-handlers">
        {open.slice(0, HANDLERS_SHOWN).map((handler) => (
          <Link
            key={handler.name}
            className="chip"
            to="/services/$service"
            params={{ service: name }}
            search={{ handler: handler.name }}
          >
            {visibleLine(handler.name)}
          </Link>
        ))}
        {rest > 0 ? <span className="dim">{t.more(rest)}</span> : null}
      </div>
    </li>
  );
}
