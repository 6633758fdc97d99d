// A schedule is made, or changed: when, what, and what becomes of times that collide or were missed.

import { useId, useState, type ReactNode } from "react";
import { BUILT_IN_PREFIX, type ScheduleSummary, type ServiceManifest } from "@perdure/protocol";
import { path } from "../../api/client.ts";
import { useApi } from "../../app/app-context.ts";
import { useMessages } from "../../i18n/use-messages.ts";
import { draftOf, inMode, withValue, type InputDraft } from "../../schema-form/input-draft.ts";
import { focusFault } from "../../schema-form/focus-fault.ts";
import { firstDraft, hasForm, InputEditor, issuesOf } from "../../schema-form/input-editor.tsx";
import type { Schema } from "../../schema-form/schema.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Segmented } from "../../ui/segmented.tsx";
import { say } from "../../ui/toasts.tsx";
import { visibleLine, visibleText } from "../../ui/visible-text.ts";
import { useServices } from "../services/use-services.ts";
import {
  draftOfSchedule,
  isComplete,
  keyingOf,
  NEW_SCHEDULE,
  scheduleBody,
  type ScheduleDraft,
} from "./schedule-draft.ts";

export interface ScheduleDialogProps {
  /** Null: a new one. */
  readonly schedule: ScheduleSummary | null;
  readonly onClose: () => void;
  readonly onSaved: (name: string) => Promise<unknown>;
}

export function ScheduleDialog(props: ScheduleDialogProps): ReactNode {
  const t = useMessages();
  const { data } = useServices();
  const title = props.schedule === null ? t.schedules.add : t.schedules.edit(visibleLine(props.schedule.name));
  return (
    <Dialog isOpen onClose={props.onClose} title={title} wide>
      {data === undefined ? <p>{t.common.loading}</p> : <ScheduleForm {...props} services={data} />}
    </Dialog>
  );
}

type FormProps = ScheduleDialogProps & { readonly services: readonly ServiceManifest[] };

function ScheduleForm(props: FormProps): ReactNode {
  const t = useMessages();
  const form = useScheduleForm(props);
  const { draft, set, keying } = form;
  return (
    <form
      className="schedule-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void form.save();
      }}
    >
      {props.schedule === null ? (
        <Field label={t.schedules.columns.name} value={draft.name} onValue={(name) => set({ name })} />
      ) : null}
      <When draft={draft} set={set} />
      <Target services={props.services} draft={draft} set={set} />
      {keying === "key" ? (
        <Field label={t.services.call.key} value={draft.key} onValue={(key) => set({ key })} />
      ) : null}
      {keying === "perStart" ? <p className="help dim">{t.schedules.perStart}</p> : null}
      <InputEditor
        label={t.schedules.input}
        schema={form.schema}
        draft={form.input}
        onDraft={form.setInput}
        issues={form.isTried ? form.issues : []}
      />
      <Policies draft={draft} set={set} />
      {form.isTried && !form.isReady ? (
        <p className="fault" role="alert">
          {t.services.call.notReady}
        </p>
      ) : null}
      {form.error === null ? null : (
        <p className="notice" data-tone="red" role="alert">
          {visibleText(form.error.message)}
        </p>
      )}
      <div className="actions">
        <Button onClick={props.onClose}>{t.common.cancel}</Button>
        <Button type="submit" look="primary" disabled={form.isBusy}>
          {props.schedule === null ? t.schedules.create : t.schedules.save}
        </Button>
      </div>
    </form>
  );
}

/** What is written in the form, whether it can be saved, and why it was refused. */
function useScheduleForm({ schedule, services, onClose, onSaved }: FormProps) {
  const t = useMessages();
  const api = useApi();
  const [draft, setDraft] = useState<ScheduleDraft>(() => firstOf(schedule, services));
  const [input, setInput] = useState<InputDraft>(() => inputOf(schedule, schemaOf(services, draft)));
  const [isTried, setTried] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const [isBusy, setBusy] = useState(false);
  const schema = schemaOf(services, draft);
  const keying = keyingOf(services, draft);
  const issues = issuesOf(schema, input);
  const isReady = isComplete(draft, keying) && input.problem === null && issues.length === 0;
  const set = (change: Partial<ScheduleDraft>): void => {
    const next = { ...draft, ...change };
    setDraft(next);
    // Another handler takes another input.
    if (next.service !== draft.service || next.handler !== draft.handler)
      setInput(firstDraft(schemaOf(services, next)));
  };
  const save = async (): Promise<void> => {
    setTried(true);
    if (!isReady) return focusFault(".schedule-form");
    setBusy(true);
    setError(null);
    try {
      await api.post(path`/schedules/${draft.name}`, scheduleBody(draft, keying, input.value));
      say(t.schedules.saved(visibleLine(draft.name)));
      onClose();
      await onSaved(draft.name);
    } catch (failure) {
      setError(failure as Error);
      setBusy(false);
    }
  };
  return { draft, set, input, setInput, schema, keying, issues, isTried, isReady, error, isBusy, save };
}

function viewersZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

function firstOf(schedule: ScheduleSummary | null, services: readonly ServiceManifest[]): ScheduleDraft {
  if (schedule !== null) return draftOfSchedule(schedule, viewersZone());
  const [service] = callable(services);
  return {
    ...NEW_SCHEDULE,
    timeZone: viewersZone(),
    service: service?.name ?? "",
    handler: service?.handlers[0]?.name ?? "",
  };
}

/** What may be started from outside, without what the runtime keeps for itself. */
function callable(services: readonly ServiceManifest[]): readonly ServiceManifest[] {
  return services
    .filter(({ name }) => !name.startsWith(BUILT_IN_PREFIX))
    .map((service) => ({ ...service, handlers: service.handlers.filter(({ internal }) => internal !== true) }))
    .filter(({ handlers }) => handlers.length > 0);
}

function schemaOf(
  services: readonly ServiceManifest[],
  { service, handler }: Pick<ScheduleDraft, "service" | "handler">,
): Schema | undefined {
  const found = services.find(({ name }) => name === service)?.handlers.find(({ name }) => name === handler);
  return found?.inputSchema as Schema | undefined;
}

function inputOf(schedule: ScheduleSummary | null, schema: Schema | undefined): InputDraft {
  if (schedule === null) return firstDraft(schema);
  const value = schedule.input ?? undefined;
  return hasForm(schema) ? inMode(withValue(firstDraft(schema), value), "form") : draftOf("json", value);
}

interface PartProps {
  readonly draft: ScheduleDraft;
  readonly set: (change: Partial<ScheduleDraft>) => void;
}

const CRON_EXAMPLES = ["0 * * * *", "0 9 * * 1-5", "0 3 * * *", "0 0 1 * *"];

function When({ draft, set }: PartProps): ReactNode {
  const t = useMessages().schedules;
  const id = useId();
  return (
    <div className="field">
      <span className="label">{t.columns.when}</span>
      <div className="when">
        <Segmented
          label={t.columns.when}
          value={draft.when}
          options={[
            { value: "cron", label: t.whenCron },
            { value: "every", label: t.whenEvery },
          ]}
          onChange={(when) => set({ when })}
        />
        {draft.when === "every" ? (
          <input
            className="input mono"
            aria-label={t.whenEvery}
            placeholder="15m, 2h, 1d"
            value={draft.every}
            onChange={(event) => set({ every: event.target.value })}
          />
        ) : (
          <>
            <input
              className="input mono"
              aria-label={t.cron}
              placeholder="0 3 * * *"
              list={`${id}-crons`}
              value={draft.cron}
              onChange={(event) => set({ cron: event.target.value })}
            />
            <datalist id={`${id}-crons`}>
              {CRON_EXAMPLES.map((cron, at) => (
                <option key={cron} value={cron}>
                  {t.cronExamples[at]}
                </option>
              ))}
            </datalist>
            <input
              className="input"
              aria-label={t.timeZone}
              list={`${id}-zones`}
              value={draft.timeZone}
              onChange={(event) => set({ timeZone: event.target.value })}
            />
            <datalist id={`${id}-zones`}>
              {Intl.supportedValuesOf("timeZone").map((zone) => (
                <option key={zone} value={zone} />
              ))}
            </datalist>
          </>
        )}
      </div>
      <p className="help">{draft.when === "cron" ? t.cronHelp : t.everyHelp}</p>
    </div>
  );
}

function Target({ services, draft, set }: PartProps & { readonly services: readonly ServiceManifest[] }): ReactNode {
  const t = useMessages().schedules;
  const id = useId();
  const choices = callable(services);
  const value = `${draft.service}\u0000${draft.handler}`;
  return (
    <div className="field">
      <label htmlFor={id}>{t.columns.starts}</label>
      <select
        id={id}
        className="input"
        value={value}
        onChange={(event) => {
          const [service = "", handler = ""] = event.target.value.split("\u0000");
          set({ service, handler });
        }}
      >
        {choices.map(({ name, handlers }) => (
          <optgroup key={name} label={visibleLine(name)}>
            {handlers.map((handler) => (
              <option key={handler.name} value={`${name}\u0000${handler.name}`}>
                {visibleLine(`${name}/${handler.name}`)}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
    </div>
  );
}

const OVERLAPS = ["skip", "queue", "parallel", "cancel"] as const;
const CATCH_UPS = ["latest", "none", "all"] as const;

function Policies({ draft, set }: PartProps): ReactNode {
  const t = useMessages().schedules;
  const id = useId();
  return (
    <div className="policies">
      <div className="field">
        <label htmlFor={`${id}-overlap`}>{t.overlap}</label>
        <select
          id={`${id}-overlap`}
          className="input"
          value={draft.overlap}
          onChange={({ target }) => set({ overlap: OVERLAPS.find((one) => one === target.value) ?? "skip" })}
        >
          {OVERLAPS.map((one) => (
            <option key={one} value={one}>
              {t.overlaps[one]}
            </option>
          ))}
        </select>
      </div>
      <div className="field">
        <label htmlFor={`${id}-catch-up`}>{t.catchUp}</label>
        <select
          id={`${id}-catch-up`}
          className="input"
          value={draft.catchUp}
          onChange={({ target }) => set({ catchUp: CATCH_UPS.find((one) => one === target.value) ?? "latest" })}
        >
          {CATCH_UPS.map((one) => (
            <option key={one} value={one}>
              {t.catchUps[one]}
            </option>
          ))}
        </select>
      </div>
      <Field label={t.jitter} value={draft.jitter} onValue={(jitter) => set({ jitter })} placeholder="5m" />
      <label className="check">
        <input type="checkbox" checked={draft.paused} onChange={(event) => set({ paused: event.target.checked })} />
        {t.beginPaused}
      </label>
    </div>
  );
}

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly placeholder?: string;
}

function Field({ label, value, onValue, placeholder }: FieldProps): ReactNode {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className="input"
        autoComplete="off"
        spellCheck={false}
        placeholder={placeholder}
        value={value}
        onChange={(event) => onValue(event.target.value)}
      />
    </div>
  );
}
