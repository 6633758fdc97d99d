// What starts when: the next times in the viewer's zone, what became of the last ones, and what can be done about it.

import { useNavigate, useSearch } from "@tanstack/react-router";
import { CalendarClock, Plus } from "lucide-react";
import { useState, type ReactNode } from "react";
import type { ScheduleSummary } from "@perdure/protocol";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { useHotkeys } from "../../keys/use-hotkeys.ts";
import { Button } from "../../ui/button.tsx";
import { TargetName } from "../../ui/run-link.tsx";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { Badge } from "../../ui/status-badge.tsx";
import { Ago } from "../../ui/time.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import { OutcomeBadge } from "./outcome-badge.tsx";
import { ScheduleDetail } from "./schedule-detail.tsx";
import { ScheduleDialog } from "./schedule-dialog.tsx";
import { targetOf, timingText } from "./schedule-words.ts";
import { useSchedules, type LoadedSchedules } from "./use-schedules.ts";
import "./schedules.css";

export function Schedules(): ReactNode {
  const t = useMessages();
  const navigate = useNavigate({ from: "/schedules" });
  const search = useSearch({ from: "/schedules" });
  const loaded = useSchedules();
  const [isAdding, setAdding] = useState(false);
  const choose = (name: string | null): void =>
    void navigate({ search: name === null ? {} : { name }, replace: search.name !== undefined && name !== null });
  useScheduleKeys(loaded.schedules, search.name, choose, () => (loaded.isServed ? setAdding(true) : undefined));
  const chosen = loaded.schedules.find(({ name }) => name === search.name);
  return (
    <div className="page">
      <div className="page-head">
        <h1>{t.schedules.title}</h1>
        {loaded.isServed && !loaded.isLoading ? (
          <Button look="primary" onClick={() => setAdding(true)}>
            <Plus aria-hidden />
            {t.schedules.add}
          </Button>
        ) : null}
      </div>
      {loaded.error === null ? null : <Failed error={loaded.error} onRetry={() => void loaded.refresh()} />}
      {loaded.isLoading && loaded.error === null ? <Loading /> : null}
      {loaded.isLoading || loaded.error !== null ? null : (
        <div className="schedules" data-split={chosen !== undefined || undefined}>
          <Table loaded={loaded} chosen={search.name} />
          {chosen === undefined ? null : (
            <ScheduleDetail key={chosen.name} schedule={chosen} refresh={loaded.refresh} onClose={() => choose(null)} />
          )}
        </div>
      )}
      {isAdding ? (
        <ScheduleDialog
          schedule={null}
          onClose={() => setAdding(false)}
          onSaved={async (name) => {
            await loaded.refresh();
            choose(name);
          }}
        />
      ) : null}
    </div>
  );
}

function useScheduleKeys(
  schedules: readonly ScheduleSummary[],
  chosen: string | undefined,
  choose: (name: string | null) => void,
  add: () => void,
): void {
  const t = useMessages();
  const at = schedules.findIndex(({ name }) => name === chosen);
  const move = (by: number): void => {
    const next = schedules[Math.min(schedules.length - 1, Math.max(0, at < 0 ? 0 : at + by))];
    if (next !== undefined) choose(next.name);
  };
  useHotkeys([
    { keys: "j", label: t.common.keys.next, run: () => move(1) },
    { keys: "k", label: t.common.keys.previous, run: () => move(-1) },
    { keys: "n", label: t.schedules.add, run: add },
    { keys: "Escape", label: t.schedules.close, run: () => choose(null) },
  ]);
}

function Table({
  loaded,
  chosen,
}: {
  readonly loaded: LoadedSchedules;
  readonly chosen: string | undefined;
}): ReactNode {
  const t = useMessages();
  const { schedules, hasMore, loadMore, isServed } = loaded;
  if (schedules.length === 0)
    return (
      <Empty icon={<CalendarClock aria-hidden />} title={t.schedules.none}>
        <p>{isServed ? t.schedules.noneHelp : t.schedules.noneServedHelp}</p>
        <pre className="example">{EXAMPLE}</pre>
      </Empty>
    );
  return (
    <div className="panel schedule-table">
      <table>
        <thead>
          <tr>
            <th scope="col">{t.schedules.columns.name}</th>
            <th scope="col">{t.schedules.columns.when}</th>
            <th scope="col">{t.schedules.columns.next}</th>
            <th scope="col" className="wide">
              {t.schedules.columns.starts}
            </th>
            <th scope="col" className="wide">
              {t.schedules.columns.last}
            </th>
          </tr>
        </thead>
        <tbody>
          {schedules.map((schedule) => (
            <Row key={schedule.name} schedule={schedule} isChosen={schedule.name === chosen} />
          ))}
        </tbody>
      </table>
      {hasMore ? (
        <p className="body">
          <Button size="s" onClick={loadMore}>
            {t.common.more}
          </Button>
        </p>
      ) : null}
    </div>
  );
}

const EXAMPLE = `export const nightly = schedule("nightly", {
  cron: "0 3 * * *",
  timeZone: "Europe/Berlin",
  target: mailer,
  handler: "sendDigest",
});`;

function Row({ schedule, isChosen }: { readonly schedule: ScheduleSummary; readonly isChosen: boolean }): ReactNode {
  const t = useMessages();
  const format = useFormat();
  const navigate = useNavigate({ from: "/schedules" });
  const { name, paused, timing, next, history } = schedule;
  const [soonest] = next;
  const [last] = history;
  return (
    <tr data-current={isChosen || undefined}>
      <th scope="row">
        <button
          type="button"
          className="row-button"
          aria-pressed={isChosen}
          onClick={() => void navigate({ search: isChosen ? {} : { name } })}
        >
          {visibleLine(name)}
        </button>
      </th>
      <td>
        <code>{visibleLine(timingText(schedule, t, format))}</code>
        {timing.kind === "cron" ? <span className="dim zone"> {visibleLine(timing.timeZone)}</span> : null}
      </td>
      <td>
        {paused ? (
          <Badge tone="orange">{t.schedules.paused}</Badge>
        ) : soonest === undefined ? (
          <span className="dim">{t.schedules.noFurther}</span>
        ) : (
          <Ago at={soonest.at} />
        )}
      </td>
      <td className="wide">
        <TargetName of={targetOf(schedule)} />
      </td>
      <td className="wide">
        {last === undefined ? (
          <span className="dim">{t.schedules.never}</span>
        ) : (
          <span className="last-start">
            <OutcomeBadge start={last} />
            <span className="dim">
              <Ago at={last.decidedAt} />
            </span>
          </span>
        )}
      </td>
    </tr>
  );
}
