// One schedule: its next times, its starts, and what can be done with it.

import { Pause, Pencil, Play, Trash2, X, Zap } from "lucide-react";
import { useState, type ReactNode } from "react";
import type { ScheduleSummary, ScheduleTriggered } from "@perdure/protocol";
import { path } from "../../api/client.ts";
import { useApi } from "../../app/app-context.ts";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { Button } from "../../ui/button.tsx";
import { CommandLine } from "../../ui/copy-button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Payload } from "../../ui/payload.tsx";
import { RunLink, TargetName } from "../../ui/run-link.tsx";
import { shellWord } from "../../ui/shell-word.ts";
import { Ago } from "../../ui/time.tsx";
import { say, sayFailure } from "../../ui/toasts.tsx";
import { visibleLine, visibleText } from "../../ui/visible-text.ts";
import { OutcomeBadge } from "./outcome-badge.tsx";
import { ScheduleDialog } from "./schedule-dialog.tsx";
import { outcomeOf, targetOf, timingText } from "./schedule-words.ts";

interface DetailProps {
  readonly schedule: ScheduleSummary;
  readonly refresh: () => Promise<unknown>;
  readonly onClose: () => void;
}

type Action = "pause" | "resume" | "trigger" | "remove";

export function ScheduleDetail({ schedule, refresh, onClose }: DetailProps): ReactNode {
  const t = useMessages();
  const [asked, setAsked] = useState<Action | null>(null);
  const [isEditing, setEditing] = useState(false);
  const { name, paused, exported } = schedule;
  const hold: Action = paused ? "resume" : "pause";
  return (
    <Panel
      title={visibleLine(name)}
      tools={
        <Button look="ghost" size="s" icon aria-label={t.schedules.close} onClick={onClose}>
          <X aria-hidden />
        </Button>
      }
    >
      <div className="body schedule-detail">
        <div className="schedule-actions">
          <Button look="primary" onClick={() => setAsked("trigger")}>
            <Zap aria-hidden />
            {t.schedules.actions.trigger}
          </Button>
          <Button onClick={() => setAsked(hold)}>
            {paused ? <Play aria-hidden /> : <Pause aria-hidden />}
            {t.schedules.actions[hold]}
          </Button>
          {exported ? null : (
            <Button onClick={() => setEditing(true)}>
              <Pencil aria-hidden />
              {t.schedules.actions.edit}
            </Button>
          )}
          <Button
            look="ghost"
            icon
            aria-label={t.schedules.actions.remove}
            title={t.schedules.actions.remove}
            onClick={() => setAsked("remove")}
          >
            <Trash2 aria-hidden />
          </Button>
        </div>
        <Facts schedule={schedule} />
        <Upcoming schedule={schedule} />
        <History schedule={schedule} />
      </div>
      {asked === null ? null : (
        <ActionDialog schedule={schedule} action={asked} refresh={refresh} onClose={() => setAsked(null)} />
      )}
      {isEditing ? <ScheduleDialog schedule={schedule} onClose={() => setEditing(false)} onSaved={refresh} /> : null}
    </Panel>
  );
}

function Facts({ schedule }: { readonly schedule: ScheduleSummary }): ReactNode {
  const t = useMessages();
  const format = useFormat();
  const { timing, jitterMs, overlap, catchUp, input, exported } = schedule;
  return (
    <dl className="schedule-facts">
      <dt>{t.schedules.columns.when}</dt>
      <dd>
        <code>{visibleLine(timingText(schedule, t, format))}</code>
        {timing.kind === "cron" ? ` ${visibleLine(timing.timeZone)}` : ""}
        {jitterMs === 0 ? "" : ` · ${t.schedules.jitterText(format.duration(jitterMs))}`}
      </dd>
      <dt>{t.schedules.columns.starts}</dt>
      <dd>
        <TargetName of={targetOf(schedule)} />
      </dd>
      <dt>{t.schedules.overlap}</dt>
      <dd>{t.schedules.overlaps[overlap]}</dd>
      <dt>{t.schedules.catchUp}</dt>
      <dd>{t.schedules.catchUps[catchUp]}</dd>
      {exported ? (
        <>
          <dt>{t.schedules.madeBy}</dt>
          <dd>{t.schedules.madeByCode}</dd>
        </>
      ) : null}
      {input === null ? null : (
        <>
          <dt>{t.schedules.input}</dt>
          <dd>
            <Payload value={input} />
          </dd>
        </>
      )}
    </dl>
  );
}

function Upcoming({ schedule: { next, paused } }: { readonly schedule: ScheduleSummary }): ReactNode {
  const t = useMessages().schedules;
  const format = useFormat();
  return (
    <section>
      <h3>{t.upcoming}</h3>
      {next.length === 0 ? <p className="dim">{paused ? t.pausedHelp : t.noFurther}</p> : null}
      <ol className="upcoming">
        {next.map(({ at }) => (
          <li key={at}>
            <time dateTime={at}>{format.dateTime(Date.parse(at))}</time>
            <span className="dim">
              <Ago at={at} />
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function History({ schedule: { history } }: { readonly schedule: ScheduleSummary }): ReactNode {
  const t = useMessages().schedules;
  const format = useFormat();
  return (
    <section>
      <h3>{t.history}</h3>
      {history.length === 0 ? <p className="dim">{t.never}</p> : null}
      <ol className="starts">
        {history.map((start) => {
          const { why } = outcomeOf(start.outcome);
          return (
            <li key={start.id}>
              <OutcomeBadge start={start} />
              {start.runId === null ? null : <RunLink id={start.runId} />}
              <span className="dim">
                {format.dateTime(Date.parse(start.scheduledFor))}
                {start.id.startsWith("trigger/") ? ` · ${t.byHand}` : ""}
              </span>
              {why === "" ? null : <p className="dim">{visibleText(why)}</p>}
            </li>
          );
        })}
      </ol>
    </section>
  );
}

interface ActionDialogProps {
  readonly schedule: ScheduleSummary;
  readonly action: Action;
  readonly refresh: () => Promise<unknown>;
  readonly onClose: () => void;
}

function ActionDialog({ schedule: { name, exported }, action, refresh, onClose }: ActionDialogProps): ReactNode {
  const t = useMessages();
  const api = useApi();
  const [isBusy, setBusy] = useState(false);
  const act = async (): Promise<void> => {
    setBusy(true);
    try {
      const answer = await api.post<Partial<ScheduleTriggered>>(path`/schedules/${name}/` + action);
      say(`${visibleLine(name)}: ${answer.outcome ?? t.schedules.done[action]}`);
      await refresh();
      onClose();
    } catch (error) {
      sayFailure(error);
      setBusy(false);
    }
  };
  return (
    <Dialog isOpen onClose={onClose} title={t.schedules.confirm[action](visibleLine(name))}>
      <p>{t.schedules.consequence[action]}</p>
      {action === "remove" && exported ? (
        <p className="notice" data-tone="amber">
          {t.schedules.removeExported}
        </p>
      ) : null}
      <div className="field">
        <span className="label dim">{t.run.asCommand}</span>
        <CommandLine command={`npx perdure schedules ${action} ${shellWord(name)}`} />
      </div>
      <div className="actions">
        <Button onClick={onClose}>{t.common.cancel}</Button>
        <Button look={action === "remove" ? "danger" : "primary"} disabled={isBusy} onClick={() => void act()}>
          {t.schedules.actions[action]}
        </Button>
      </div>
    </Dialog>
  );
}
