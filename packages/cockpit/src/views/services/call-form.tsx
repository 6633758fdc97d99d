// A form that calls a handler: made of its schema, checked before it is sent, with the commands that do the same.

import { Play, Send } from "lucide-react";
import { useId, useState, type ReactNode } from "react";
import type { HandlerManifest, RunId, SendAnswer, ServiceManifest } from "@perdure/protocol";
import { ApiFailure } from "../../api/client.ts";
import { useApi } from "../../app/app-context.ts";
import { useMessages } from "../../i18n/use-messages.ts";
import { useHotkeys } from "../../keys/use-hotkeys.ts";
import { focusFault } from "../../schema-form/focus-fault.ts";
import { firstDraft, InputEditor, issuesOf } from "../../schema-form/input-editor.tsx";
import { sentText, type InputDraft } from "../../schema-form/input-draft.ts";
import type { Schema } from "../../schema-form/schema.ts";
import { Button } from "../../ui/button.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Segmented } from "../../ui/segmented.tsx";
import { visibleText } from "../../ui/visible-text.ts";
import { CallCommands } from "./call-commands.tsx";
import { callRequest, isHeaderText, type Call } from "./call-request.ts";
import { CallResult } from "./call-result.tsx";

interface CallFormProps {
  readonly service: ServiceManifest;
  readonly handler: HandlerManifest;
  readonly initialKey: string;
}

type Outcome =
  | { readonly kind: "none" }
  | { readonly kind: "sending" }
  | { readonly kind: "refused"; readonly error: Error }
  | { readonly kind: "sent"; readonly runId: RunId; readonly existing: boolean; readonly how: Call["how"] };

export function CallForm(props: CallFormProps): ReactNode {
  const t = useMessages().services.call;
  const { session } = useApi();
  const form = useCallForm(props);
  const { options, setOptions, isTried, isReady, outcome } = form;
  useHotkeys([{ keys: "mod+enter", label: t.submitKey, run: () => void form.submit() }]);
  return (
    <>
      <Panel title={t.title}>
        <form
          className="body call-form"
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            void form.submit();
          }}
        >
          {form.call.target.key === undefined ? null : (
            <KeyField options={options} onOptions={setOptions} isTried={isTried} />
          )}
          <InputEditor
            label={t.input}
            schema={form.schema}
            draft={form.draft}
            onDraft={form.setDraft}
            issues={isTried ? form.issues : []}
          />
          <Options options={options} onOptions={setOptions} />
          <div className="call-actions">
            <Button type="submit" look="primary" disabled={outcome.kind === "sending"}>
              {options.how === "call" ? <Play aria-hidden /> : <Send aria-hidden />}
              {t[options.how]}
              <kbd>Ctrl ⏎</kbd>
            </Button>
            {isTried && !isReady ? (
              <p className="fault" role="alert">
                {t.notReady}
              </p>
            ) : null}
          </div>
          <CallCommands call={form.call} hasToken={session.hasToken} />
        </form>
      </Panel>
      <Outcome outcome={outcome} />
    </>
  );
}

/** What is written in the form, whether it can be sent, and what became of it. */
function useCallForm({ service, handler, initialKey }: CallFormProps) {
  const api = useApi();
  const schema = handler.inputSchema as Schema | undefined;
  const [draft, setDraft] = useState<InputDraft>(() => firstDraft(schema));
  const [options, setOptions] = useState<CallOptions>({ key: initialKey, how: "call", delay: "", idempotencyKey: "" });
  const [isTried, setTried] = useState(false);
  const [outcome, setOutcome] = useState<Outcome>({ kind: "none" });
  const isKeyed = service.kind !== "service";
  const call: Call = {
    target: { service: service.name, handler: handler.name, ...(isKeyed ? { key: options.key } : {}) },
    input: sentText(draft),
    how: options.how,
    delay: options.how === "send" ? options.delay.trim() : "",
    idempotencyKey: options.idempotencyKey,
  };
  const issues = issuesOf(schema, draft);
  const isReady =
    draft.problem === null &&
    issues.length === 0 &&
    (!isKeyed || options.key !== "") &&
    isHeaderText(options.idempotencyKey);
  const submit = async (): Promise<void> => {
    setTried(true);
    if (!isReady) return focusFault(".call-form");
    if (outcome.kind === "sending") return;
    setOutcome({ kind: "sending" });
    try {
      const { path, query, headers } = callRequest(call);
      const response = await api.open("POST", path, { query, text: call.input ?? "" }, headers);
      const { runId, status } = (await response.json()) as SendAnswer;
      setOutcome({ kind: "sent", runId, existing: status === "previouslyAccepted", how: options.how });
    } catch (error) {
      setOutcome({ kind: "refused", error: error as Error });
    }
  };
  return { schema, draft, setDraft, options, setOptions, call, issues, isTried, isReady, outcome, submit };
}

function Outcome({ outcome }: { readonly outcome: Outcome }): ReactNode {
  const t = useMessages().services.call;
  switch (outcome.kind) {
    case "none":
    case "sending":
      return null;
    case "refused": {
      const { error } = outcome;
      const where = error instanceof ApiFailure ? error.error.path : undefined;
      return (
        <div className="notice" data-tone="red" role="alert">
          <h2>{t.refused}</h2>
          <p>
            {where === undefined ? null : <code>{where} </code>}
            {visibleText(error.message)}
            {error instanceof ApiFailure ? <span className="dim"> {error.code}</span> : null}
          </p>
        </div>
      );
    }
    case "sent":
      return <CallResult key={outcome.runId} {...outcome} />;
  }
}

interface CallOptions {
  readonly key: string;
  readonly how: Call["how"];
  readonly delay: string;
  readonly idempotencyKey: string;
}

interface OptionsProps {
  readonly options: CallOptions;
  readonly onOptions: (options: CallOptions) => void;
}

function KeyField({ options, onOptions, isTried }: OptionsProps & { readonly isTried: boolean }): ReactNode {
  const t = useMessages().services.call;
  const id = useId();
  const isWrong = isTried && options.key === "";
  return (
    <div className="field">
      <label htmlFor={id}>{t.key}</label>
      <input
        id={id}
        className="input"
        autoComplete="off"
        spellCheck={false}
        value={options.key}
        aria-required
        aria-invalid={isWrong}
        aria-describedby={`${id}-help`}
        onChange={(event) => onOptions({ ...options, key: event.target.value })}
      />
      <p id={`${id}-help`} className={isWrong ? "fault" : "help"}>
        {isWrong ? t.keyMissing : t.keyHelp}
      </p>
    </div>
  );
}

function Options({ options, onOptions }: OptionsProps): ReactNode {
  const t = useMessages().services.call;
  const id = useId();
  return (
    <div className="call-options">
      <Segmented
        label={t.how}
        value={options.how}
        options={[
          { value: "call", label: t.call },
          { value: "send", label: t.send },
        ]}
        onChange={(how) => onOptions({ ...options, how })}
      />
      {options.how === "call" ? null : (
        <div className="field">
          <label htmlFor={`${id}-delay`}>{t.delay}</label>
          <input
            id={`${id}-delay`}
            className="input"
            placeholder={t.delayPlaceholder}
            value={options.delay}
            onChange={(event) => onOptions({ ...options, delay: event.target.value })}
          />
        </div>
      )}
      <div className="field">
        <label htmlFor={`${id}-idempotency`}>{t.idempotencyKey}</label>
        <input
          id={`${id}-idempotency`}
          className="input"
          placeholder={t.idempotencyPlaceholder}
          autoComplete="off"
          spellCheck={false}
          value={options.idempotencyKey}
          aria-invalid={!isHeaderText(options.idempotencyKey)}
          aria-describedby={`${id}-fault`}
          onChange={(event) => onOptions({ ...options, idempotencyKey: event.target.value })}
        />
        {isHeaderText(options.idempotencyKey) ? null : (
          <p id={`${id}-fault`} className="fault">
            {t.idempotencyPlain}
          </p>
        )}
      </div>
    </div>
  );
}
