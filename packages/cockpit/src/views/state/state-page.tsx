// The keys that have state, of one object or workflow at a time.

import { useVirtualizer } from "@tanstack/react-virtual";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Database, Plus, RefreshCw, Search } from "lucide-react";
import { useDeferredValue, useEffect, useRef, useState, type ReactNode } from "react";
import { BUILT_IN_PREFIX, type ServiceManifest } from "@perdure/protocol";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { useHotkeys } from "../../keys/use-hotkeys.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import { useServices } from "../services/use-services.ts";
import type { StateSearch } from "./state-search.ts";
import { useKeys } from "./use-keys.ts";
import "./state.css";

export function StatePage(): ReactNode {
  const t = useMessages();
  const search = useSearch({ from: "/state" });
  const { data, error, refetch } = useServices();
  const keyed = (data ?? []).filter(({ kind }) => kind !== "service").toSorted(ownLast);
  const service = search.service ?? keyed[0]?.name;
  if (error !== null) return <Failed error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading />;
  return (
    <div className="state-page">
      <div className="state-head">
        <div className="page-head">
          <h1>{t.state.title}</h1>
        </div>
        {service === undefined ? null : <Tools services={keyed} service={service} search={search} />}
      </div>
      {service === undefined ? (
        <Empty icon={<Database aria-hidden />} title={t.state.noKeyed}>
          <p>{t.state.noKeyedHelp}</p>
        </Empty>
      ) : (
        <Keys key={`${service}\0${search.find ?? ""}`} service={service} find={search.find ?? ""} />
      )}
    </div>
  );
}

/** What the runtime brings along comes after what somebody wrote. */
function ownLast({ name: a }: ServiceManifest, { name: b }: ServiceManifest): number {
  return Number(a.startsWith(BUILT_IN_PREFIX)) - Number(b.startsWith(BUILT_IN_PREFIX)) || a.localeCompare(b);
}

interface ToolsProps {
  readonly services: readonly ServiceManifest[];
  readonly service: string;
  readonly search: StateSearch;
}

function Tools({ services, service, search }: ToolsProps): ReactNode {
  const t = useMessages();
  const navigate = useNavigate({ from: "/state" });
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(search.find ?? "");
  const [isAdding, setAdding] = useState(false);
  const find = useDeferredValue(text);
  useEffect(() => {
    // A statement is run for it: not for every letter.
    const timer = setTimeout(() => {
      if (find !== (search.find ?? "")) void navigate({ search: { ...search, find }, replace: true });
    }, 200);
    return () => clearTimeout(timer);
  }, [find, search, navigate]);
  useHotkeys([
    { keys: "/", label: t.common.keys.focusSearch, run: () => field.current?.focus() },
    { keys: "n", label: t.state.addKey, run: () => setAdding(true) },
  ]);
  // A service that is gone may have left state: its address still shows it.
  const names = services.some(({ name }) => name === service)
    ? services.map(({ name }) => name)
    : [service, ...services.map(({ name }) => name)];
  return (
    <div className="state-tools">
      <select
        className="input state-service"
        aria-label={t.state.service}
        value={service}
        onChange={(event) => {
          setText("");
          void navigate({ search: { service: event.target.value } });
        }}
      >
        {names.map((name) => (
          <option key={name} value={name}>
            {visibleLine(name)}
          </option>
        ))}
      </select>
      <div className="search-field">
        <Search aria-hidden />
        <input
          ref={field}
          className="input"
          type="search"
          aria-label={t.state.find}
          placeholder={t.state.find}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <kbd>/</kbd>
      </div>
      <Button onClick={() => setAdding(true)}>
        <Plus aria-hidden />
        {t.state.addKey}
      </Button>
      {isAdding ? <AddKey service={service} onClose={() => setAdding(false)} /> : null}
    </div>
  );
}

function AddKey({ service, onClose }: { readonly service: string; readonly onClose: () => void }): ReactNode {
  const t = useMessages();
  const navigate = useNavigate();
  const [key, setKey] = useState("");
  return (
    <Dialog isOpen onClose={onClose} title={t.state.addKey}>
      <form
        className="field"
        onSubmit={(event) => {
          event.preventDefault();
          if (key !== "") void navigate({ to: "/state/$service/$key", params: { service, key } });
        }}
      >
        <label htmlFor="new-key">{t.state.key}</label>
        <input
          id="new-key"
          className="input"
          autoComplete="off"
          spellCheck={false}
          value={key}
          onChange={(event) => setKey(event.target.value)}
        />
        <p className="help">{t.state.addKeyHelp}</p>
        <div className="actions">
          <Button onClick={onClose}>{t.common.cancel}</Button>
          <Button type="submit" look="primary" disabled={key === ""}>
            {t.common.keys.open}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

const ROW_PX = 34;
const AHEAD_ROWS = 80;

function Keys({ service, find }: { readonly service: string; readonly find: string }): ReactNode {
  const t = useMessages();
  const loaded = useKeys(service, find);
  const { keys } = loaded;
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: keys.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 16,
  });
  const items = virtual.getVirtualItems();
  const lastShown = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (loaded.hasMore && lastShown > keys.length - AHEAD_ROWS) loaded.loadMore();
  }, [loaded, lastShown, keys.length]);
  const current = useKeyCursor(service, keys, (at) => virtual.scrollToIndex(at, { align: "auto" }));
  return (
    <div className="state-frame">
      <div
        className="state-scroll"
        ref={scroller}
        tabIndex={0}
        role="group"
        aria-label={t.state.keysOf(visibleLine(service))}
      >
        <ul style={{ height: virtual.getTotalSize(), position: "relative" }}>
          {items.map(({ index, start }) => (
            <li
              key={index}
              className="virtual-row state-row"
              data-current={index === current || undefined}
              style={{ transform: `translateY(${start}px)` }}
            >
              <Link to="/state/$service/$key" params={{ service, key: keys[index] ?? "" }}>
                {visibleLine(keys[index] ?? "")}
              </Link>
            </li>
          ))}
        </ul>
        <Foot loaded={loaded} isFiltered={find !== ""} />
      </div>
    </div>
  );
}

function useKeyCursor(service: string, keys: readonly string[], reveal: (at: number) => void): number | null {
  const t = useMessages().common.keys;
  const navigate = useNavigate();
  const [at, setAt] = useState<number | null>(null);
  const move = (by: number): void => {
    if (keys.length === 0) return;
    const next = Math.min(keys.length - 1, Math.max(0, at === null ? 0 : at + by));
    setAt(next);
    reveal(next);
  };
  const open = (): void => {
    const key = at === null ? undefined : keys[at];
    if (key !== undefined) void navigate({ to: "/state/$service/$key", params: { service, key } });
  };
  useHotkeys([
    { keys: "j", label: t.next, run: () => move(1) },
    { keys: "k", label: t.previous, run: () => move(-1) },
    { keys: "Enter", label: t.open, run: open },
  ]);
  return at;
}

function Foot({
  loaded,
  isFiltered,
}: {
  readonly loaded: ReturnType<typeof useKeys>;
  readonly isFiltered: boolean;
}): ReactNode {
  const t = useMessages();
  const format = useFormat();
  const { keys, error, isLoading, hasMore, newOnes, refresh } = loaded;
  if (error !== null) return <Failed error={error} onRetry={refresh} />;
  if (isLoading) return <Loading rows={10} />;
  const count = format.number(keys.length);
  return (
    <>
      {newOnes === 0 ? null : (
        <p className="state-foot">
          <Button size="s" onClick={refresh}>
            <RefreshCw aria-hidden />
            {t.state.newOnes(newOnes)}
          </Button>
        </p>
      )}
      {keys.length === 0 ? (
        <Empty icon={<Database aria-hidden />} title={isFiltered ? t.state.noneFound : t.state.none}>
          <p>{isFiltered ? t.state.noneFoundHelp : t.state.noneHelp}</p>
        </Empty>
      ) : (
        <p className="state-foot dim">{hasMore ? t.runs.loaded(count) : t.runs.loadedAll(count)}</p>
      )}
    </>
  );
}
