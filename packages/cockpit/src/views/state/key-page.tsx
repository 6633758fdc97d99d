// The state of one key: each value to be read, changed and removed, as it is now.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { ChevronRight, Pencil, Plus, Trash2 } from "lucide-react";
import { useState, type ReactNode } from "react";
import type { JsonValue, StateView } from "@perdure/protocol";
import { path } from "../../api/client.ts";
import { useApi } from "../../app/app-context.ts";
import { useMessages } from "../../i18n/use-messages.ts";
import { useHotkeys } from "../../keys/use-hotkeys.ts";
import { useLiveEvents } from "../../live/use-live.ts";
import { Button } from "../../ui/button.tsx";
import { CommandLine } from "../../ui/copy-button.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Payload } from "../../ui/payload.tsx";
import { shellWord } from "../../ui/shell-word.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import { isEditable } from "./edit-plan.ts";
import { RemoveDialog } from "./remove-dialog.tsx";
import { ValueDialog } from "./value-dialog.tsx";
import "./state.css";

/** The largest that the API gives: what is edited has to be seen whole. */
const ALL_BYTES = 33_554_432;

type Open = { readonly kind: "edit" | "remove"; readonly name: string } | { readonly kind: "add" | "removeAll" } | null;

export function KeyPage(): ReactNode {
  const { service, key } = useParams({ from: "/state/$service/$key" });
  return <Key key={`${service}\0${key}`} service={service} name={key} />;
}

function Key({ service, name }: { readonly service: string; readonly name: string }): ReactNode {
  const t = useMessages();
  const navigate = useNavigate();
  const { data, error, refetch } = useKeyState(service, name);
  const [open, setOpen] = useState<Open>(null);
  const close = (): void => setOpen(null);
  useHotkeys([
    { keys: "n", label: t.state.add, run: () => setOpen({ kind: "add" }) },
    { keys: "u", label: t.common.keys.back, run: () => void navigate({ to: "/state", search: { service } }) },
  ]);
  const names = Object.keys(data?.state ?? {});
  return (
    <div className="page">
      <nav className="crumbs" aria-label={t.state.title}>
        <Link to="/state" search={{ service }}>
          {t.state.title}
        </Link>
        <ChevronRight aria-hidden />
        <Link to="/state" search={{ service }}>
          {visibleLine(service)}
        </Link>
        <ChevronRight aria-hidden />
        <span aria-current="page">{visibleLine(name)}</span>
      </nav>
      <div className="page-head">
        <h1 className="key-title">{visibleLine(name)}</h1>
        <Link className="button" to="/runs" search={{ service, key: name }}>
          {t.state.itsRuns}
        </Link>
        <Button look="primary" onClick={() => setOpen({ kind: "add" })}>
          <Plus aria-hidden />
          {t.state.add}
        </Button>
        {names.length < 2 ? null : (
          <Button onClick={() => setOpen({ kind: "removeAll" })}>
            <Trash2 aria-hidden />
            {t.state.removeAll}
          </Button>
        )}
      </div>
      <div className="state-command">
        <CommandLine command={`npx perdure state get ${shellWord(service)} ${shellWord(name)}`} />
      </div>
      {error === null ? null : <Failed error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null ? <Loading /> : null}
      {data !== undefined && names.length === 0 ? (
        <Empty title={t.state.noValues}>
          <p>{t.state.noValuesHelp}</p>
        </Empty>
      ) : null}
      {Object.entries(data?.state ?? {}).map(([one, value]) => (
        <Value key={one} name={one} value={value} onOpen={(kind) => setOpen({ kind, name: one })} />
      ))}
      {open === null || data === undefined ? null : (
        <Dialogs open={open} view={data} refresh={async () => (await refetch()).data} onClose={close} />
      )}
    </div>
  );
}

function useKeyState(service: string, key: string) {
  const api = useApi();
  const queries = useQueryClient();
  const queryKey = ["state", service, key, "whole"];
  useLiveEvents((events) => {
    if (events.some((event) => event.type === "state" && event.service === service && event.key === key))
      void queries.invalidateQueries({ queryKey });
  });
  return useQuery({
    queryKey,
    queryFn: ({ signal }) =>
      api.get<StateView>(path`/state/${service}/${key}`, { query: { maxPayload: ALL_BYTES }, signal }),
  });
}

interface ValueProps {
  readonly name: string;
  readonly value: JsonValue;
  readonly onOpen: (kind: "edit" | "remove") => void;
}

function Value({ name, value, onOpen }: ValueProps): ReactNode {
  const t = useMessages().state;
  const label = visibleLine(name);
  return (
    <Panel
      title={label}
      tools={
        <>
          {isEditable(value) ? (
            <Button look="ghost" size="s" aria-label={t.editNamed(label)} onClick={() => onOpen("edit")}>
              <Pencil aria-hidden />
              {t.edit}
            </Button>
          ) : null}
          <Button
            look="ghost"
            size="s"
            icon
            aria-label={t.removeNamed(label)}
            title={t.removeNamed(label)}
            onClick={() => onOpen("remove")}
          >
            <Trash2 aria-hidden />
          </Button>
        </>
      }
    >
      <div className="body">
        <Payload value={value} />
      </div>
    </Panel>
  );
}

interface DialogsProps {
  readonly open: NonNullable<Open>;
  readonly view: StateView;
  readonly refresh: () => Promise<StateView | undefined>;
  readonly onClose: () => void;
}

function Dialogs({ open, view, refresh, onClose }: DialogsProps): ReactNode {
  const common = { view, refresh, onClose };
  switch (open.kind) {
    case "add":
      return <ValueDialog {...common} name={null} />;
    case "edit":
      return <ValueDialog {...common} name={open.name} />;
    case "remove":
      return <RemoveDialog {...common} name={open.name} />;
    case "removeAll":
      return <RemoveDialog {...common} name={null} />;
  }
}
