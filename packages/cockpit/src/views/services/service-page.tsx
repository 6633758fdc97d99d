// One service: its handlers, what each of them promises, and a form to call it.

import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { ChevronRight, Lock } from "lucide-react";
import type { ReactNode } from "react";
import type { HandlerManifest, ServiceManifest } from "@perdure/protocol";
import { useMessages } from "../../i18n/use-messages.ts";
import { useHotkeys } from "../../keys/use-hotkeys.ts";
import { Panel } from "../../ui/panel.tsx";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { visibleLine, visibleText } from "../../ui/visible-text.ts";
import { CallForm } from "./call-form.tsx";
import { HandlerFacts } from "./handler-facts.tsx";
import { HASH_SHOWN } from "./bundles.tsx";
import { KindBadge } from "./kind-badge.tsx";
import { MemoryTag } from "./memory-tag.tsx";
import { useBundles } from "./use-bundles.ts";
import { useServices } from "./use-services.ts";
import "./services.css";

export function ServicePage(): ReactNode {
  const t = useMessages();
  const { service: name } = useParams({ from: "/services/$service" });
  const { data, error, refetch } = useServices();
  const service = data?.find((one) => one.name === name);
  if (error !== null) return <Failed error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading />;
  if (service === undefined)
    return (
      <div className="page">
        <Empty title={t.services.gone(visibleLine(name))}>
          <p>{t.services.goneHelp}</p>
          <Link className="button" to="/services">
            {t.services.all}
          </Link>
        </Empty>
      </div>
    );
  return <Service key={service.name} service={service} />;
}

function Service({ service }: { readonly service: ServiceManifest }): ReactNode {
  const t = useMessages();
  const search = useSearch({ from: "/services/$service" });
  const { handlers } = service;
  const chosen = handlers.find(({ name }) => name === search.handler) ?? handlers[0];
  return (
    <div className="page">
      <nav className="crumbs" aria-label={t.services.title}>
        <Link to="/services">{t.services.title}</Link>
        <ChevronRight aria-hidden />
        <span aria-current="page">{visibleLine(service.name)}</span>
      </nav>
      <div className="page-head">
        <div className="title-line">
          <h1>{visibleLine(service.name)}</h1>
          <KindBadge service={service} />
          <MemoryTag service={service} />
          {service.memory === "snapshot" ? <BundleTag service={service} /> : null}
        </div>
        {service.kind === "service" ? null : (
          <Link className="button" to="/state" search={{ service: service.name }}>
            {t.services.itsState}
          </Link>
        )}
        <Link className="button" to="/runs" search={{ service: service.name }}>
          {t.services.itsRuns}
        </Link>
      </div>
      {service.description === undefined ? null : <p className="lead">{visibleText(service.description)}</p>}
      {chosen === undefined ? (
        <Empty title={t.services.noHandlers} />
      ) : (
        <div className="service-columns">
          <HandlerList service={service} chosen={chosen} />
          <Handler key={chosen.name} service={service} handler={chosen} initialKey={search.key ?? ""} />
        </div>
      )}
    </div>
  );
}

/** The code that its runs begin on now. */
function BundleTag({ service: { name } }: { readonly service: ServiceManifest }): ReactNode {
  const t = useMessages().branches.memory;
  const { data = [] } = useBundles();
  const bundle = data.find(({ services }) => services.includes(name));
  return bundle === undefined ? null : (
    <span className="tag" title={`${bundle.hash}\n${visibleLine(bundle.entry)}`}>
      {t.bundle}: {bundle.hash.slice(0, HASH_SHOWN)}
    </span>
  );
}

interface HandlerListProps {
  readonly service: ServiceManifest;
  readonly chosen: HandlerManifest;
}

function HandlerList({ service: { name: service, handlers }, chosen }: HandlerListProps): ReactNode {
  const t = useMessages();
  const navigate = useNavigate();
  const move = (by: number): void => {
    const next = handlers[handlers.indexOf(chosen) + by];
    if (next === undefined) return;
    void navigate({ to: "/services/$service", params: { service }, search: { handler: next.name }, replace: true });
  };
  useHotkeys([
    { keys: "j", label: t.common.keys.next, run: () => move(1) },
    { keys: "k", label: t.common.keys.previous, run: () => move(-1) },
    {
      keys: "Enter",
      label: t.services.toForm,
      run: () =>
        document.querySelector<HTMLElement>(".call-form input, .call-form textarea, .call-form select")?.focus(),
    },
    { keys: "u", label: t.common.keys.back, run: () => void navigate({ to: "/services" }) },
  ]);
  return (
    <nav className="handler-list panel" aria-label={t.services.handlers}>
      {handlers.map(({ name, mode, internal }) => (
        <Link
          key={name}
          to="/services/$service"
          params={{ service }}
          search={{ handler: name }}
          aria-current={name === chosen.name ? "true" : undefined}
        >
          <span className="cut">{visibleLine(name)}</span>
          {internal === true ? <Lock aria-label={t.services.internal} /> : null}
          {mode === "service" ? null : <span className="dim">{t.services.modes[mode]}</span>}
        </Link>
      ))}
    </nav>
  );
}

interface HandlerProps {
  readonly service: ServiceManifest;
  readonly handler: HandlerManifest;
  readonly initialKey: string;
}

function Handler({ service, handler, initialKey }: HandlerProps): ReactNode {
  const t = useMessages().services;
  return (
    <div className="handler">
      <Panel title={`${visibleLine(service.name)}/${visibleLine(handler.name)}`}>
        <div className="body handler-body">
          {handler.description === undefined ? null : <p>{visibleText(handler.description)}</p>}
          <HandlerFacts handler={handler} />
        </div>
      </Panel>
      {handler.internal === true ? (
        <Panel title={t.call.title}>
          <div className="body">
            <p className="dim">{t.internalHelp}</p>
          </div>
        </Panel>
      ) : (
        <CallForm service={service} handler={handler} initialKey={initialKey} />
      )}
    </div>
  );
}
