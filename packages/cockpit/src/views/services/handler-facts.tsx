// What a handler promises: how many run at once, how it tries again, how long its runs are kept, what goes in and out.

import type { ReactNode } from "react";
import { DEFAULT_RETRY, type HandlerManifest, type JsonValue } from "@perdure/protocol";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { JsonTree } from "../../ui/json-tree.tsx";

export function HandlerFacts({ handler }: { readonly handler: HandlerManifest }): ReactNode {
  const t = useMessages().services;
  const format = useFormat();
  const { mode, retentionMs, inputSchema, outputSchema } = handler;
  return (
    <>
      <dl className="handler-facts">
        <dt>{t.facts.mode}</dt>
        <dd>
          {t.modes[mode]}
          <span className="dim"> {t.modeHelp[mode]}</span>
        </dd>
        <dt>{t.facts.retry}</dt>
        <dd>
          <RetryText handler={handler} />
        </dd>
        <dt>{t.facts.retention}</dt>
        <dd>{retentionMs === undefined ? t.facts.retentionDefault : format.duration(retentionMs)}</dd>
      </dl>
      <Schema title={t.facts.input} schema={inputSchema} />
      <Schema title={t.facts.output} schema={outputSchema} />
    </>
  );
}

function RetryText({ handler: { retry } }: { readonly handler: HandlerManifest }): ReactNode {
  const t = useMessages().services.facts;
  const format = useFormat();
  const { initialMs, factor, maxMs, maxAttempts, onExhausted } = retry ?? DEFAULT_RETRY;
  const waits = t.retryWaits(format.duration(initialMs), format.number(factor), format.duration(maxMs));
  // JSON has no infinity: it comes as null.
  const isForEver = !Number.isFinite(maxAttempts ?? Number.POSITIVE_INFINITY);
  return (
    <>
      {isForEver ? t.retryForEver : t.retryTimes(maxAttempts, onExhausted)}
      <span className="dim"> {waits}</span>
    </>
  );
}

function Schema({ title, schema }: { readonly title: string; readonly schema: object | undefined }): ReactNode {
  const t = useMessages().services.facts;
  if (schema === undefined)
    return (
      <p className="dim">
        {title}: {t.noSchema}
      </p>
    );
  return (
    <details className="schema">
      <summary>{title}</summary>
      <JsonTree value={schema as unknown as JsonValue} />
    </details>
  );
}
