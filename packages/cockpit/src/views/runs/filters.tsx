// The filters that hold, each to be taken away, and menus to set others.

import { useQuery } from "@tanstack/react-query";
import { ListFilter, X } from "lucide-react";
import { useState, type ReactNode } from "react";
import { RUN_STATUSES, type ServicesAnswer } from "@perdure/protocol";
import { useApi } from "../../app/app-context.ts";
import type { Format } from "../../i18n/format.ts";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { Button } from "../../ui/button.tsx";
import { Menu, type MenuItem } from "../../ui/menu.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import { isAge } from "./range.ts";
import { RangeDialog } from "./range-dialog.tsx";
import { isEmptySearch, statusesOf, type RunsSearch } from "./runs-search.ts";

const HOUR_MS = 3_600_000;
const AGES: readonly (readonly [string, number])[] = [
  ["15m", HOUR_MS / 4],
  ["1h", HOUR_MS],
  ["24h", 24 * HOUR_MS],
  ["7d", 168 * HOUR_MS],
];

export interface FiltersProps {
  readonly search: RunsSearch;
  readonly onSearch: (search: RunsSearch) => void;
}

export function Filters({ search, onSearch }: FiltersProps): ReactNode {
  const t = useMessages().runs.filters;
  const format = useFormat();
  const without = (...names: readonly (keyof RunsSearch)[]): RunsSearch =>
    Object.fromEntries(Object.entries(search).filter(([name]) => !names.includes(name as keyof RunsSearch)));
  return (
    <div className="filters">
      <StatusMenu search={search} onSearch={onSearch} />
      <ServiceMenu search={search} onSearch={onSearch} />
      <AgeMenu search={search} onSearch={onSearch} />
      <Button
        size="s"
        onClick={() => onSearch(search.order === "oldest" ? without("order") : { ...search, order: "oldest" })}
      >
        {search.order === "oldest" ? t.oldest : t.newest}
      </Button>
      <Button
        size="s"
        aria-pressed={search.own === "shown"}
        onClick={() => onSearch(search.own === "shown" ? without("own") : { ...search, own: "shown" })}
      >
        {t.own}
        <b>{search.own === "shown" ? t.shown : t.hidden}</b>
      </Button>
      {chipsOf(search).map(({ name, text }) => (
        <Chip
          key={name}
          name={labelOf(name, text, t)}
          text={name === "since" || name === "until" ? timeText(text, format) : text}
          onRemove={() => onSearch(without(name))}
        />
      ))}
      {isEmptySearch(search) ? null : (
        <Button look="ghost" size="s" onClick={() => onSearch({})}>
          {t.clear}
        </Button>
      )}
    </div>
  );
}

type ChipName = Exclude<keyof RunsSearch, "order" | "own">;

function chipsOf(search: RunsSearch): readonly { readonly name: ChipName; readonly text: string }[] {
  const names: readonly ChipName[] = ["service", "handler", "key", "parent", "since", "until"];
  return names.flatMap((name) => {
    const text = search[name];
    return text === undefined ? [] : [{ name, text }];
  });
}

/** An age stays as it is written; an instant is shown as the viewer's clock does. */
function timeText(text: string, format: Format): string {
  const at = isAge(text) ? Number.NaN : Date.parse(text);
  return Number.isNaN(at) ? text : format.dateTime(at);
}

function labelOf(name: ChipName, text: string, t: ReturnType<typeof useMessages>["runs"]["filters"]): string {
  return name === "since" && !isAge(text) ? t.after : t[name];
}

interface ChipProps {
  readonly name: string;
  readonly text: string;
  readonly onRemove: () => void;
}

function Chip({ name, text, onRemove }: ChipProps): ReactNode {
  const t = useMessages().runs.filters;
  return (
    <span className="filter-chip">
      <span className="dim">{name}</span>
      <span className="cut">{visibleLine(text)}</span>
      <button type="button" aria-label={t.remove(name)} onClick={onRemove}>
        <X aria-hidden />
      </button>
    </span>
  );
}

/** An element, and no component: the menu hands its own properties to the button. */
function menuButton(label: string, value: string | null): React.JSX.Element {
  return (
    <Button size="s">
      <ListFilter aria-hidden />
      {label}
      {value === null ? null : <b>{value}</b>}
    </Button>
  );
}

function StatusMenu({ search, onSearch }: FiltersProps): ReactNode {
  const t = useMessages();
  const chosen = statusesOf(search);
  const items = RUN_STATUSES.map((status): MenuItem => {
    const isChosen = chosen.includes(status);
    const next = isChosen ? chosen.filter((other) => other !== status) : [...chosen, status];
    const { status: _, ...rest } = search;
    return {
      label: t.common.status[status],
      isChosen,
      onSelect: () => onSearch(next.length === 0 ? rest : { ...rest, status: next.join(",") }),
    };
  });
  const value = chosen.length === 0 ? null : chosen.map((status) => t.common.status[status]).join(", ");
  return <Menu trigger={menuButton(t.runs.filters.status, value)} groups={[{ items }]} />;
}

function ServiceMenu({ search, onSearch }: FiltersProps): ReactNode {
  const t = useMessages().runs.filters;
  const api = useApi();
  const { data } = useQuery({
    queryKey: ["services"],
    queryFn: ({ signal }) => api.get<ServicesAnswer>("/services", { signal }),
    staleTime: 60_000,
  });
  const { service, handler: _, ...rest } = search;
  const items = (data?.services ?? []).map(
    ({ name }): MenuItem => ({
      label: visibleLine(name),
      isChosen: name === service,
      onSelect: () => onSearch({ ...rest, service: name }),
    }),
  );
  return (
    <Menu
      trigger={menuButton(t.service, null)}
      groups={[
        { items: [{ label: t.any, isChosen: service === undefined, onSelect: () => onSearch(rest) }] },
        { items },
      ]}
    />
  );
}

function AgeMenu({ search, onSearch }: FiltersProps): ReactNode {
  const t = useMessages().runs.filters;
  const format = useFormat();
  const [isAsking, setAsking] = useState(false);
  const { since, until, ...rest } = search;
  const items: readonly MenuItem[] = [
    { label: t.anyTime, isChosen: since === undefined && until === undefined, onSelect: () => onSearch(rest) },
    ...AGES.map(([text, ms]) => ({
      label: t.last(format.duration(ms)),
      isChosen: since === text,
      onSelect: () => onSearch({ ...rest, since: text }),
    })),
  ];
  const isCustom = until !== undefined || (since !== undefined && AGES.every(([text]) => text !== since));
  const custom: MenuItem = { label: t.custom, isChosen: isCustom, onSelect: () => setAsking(true) };
  return (
    <>
      <Menu trigger={menuButton(t.since, null)} groups={[{ items }, { items: [custom] }]} />
      {isAsking ? <RangeDialog search={search} onSearch={onSearch} onClose={() => setAsking(false)} /> : null}
    </>
  );
}
