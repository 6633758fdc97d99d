// The newest of the audit log, and whether all of it is what was recorded.

import { ShieldCheck } from "lucide-react";
import { useState, type ReactNode } from "react";
import type { AuditCheckAnswer } from "@perdure/protocol";
import { useApi } from "../../app/app-context.ts";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { Button } from "../../ui/button.tsx";
import { CommandLine } from "../../ui/copy-button.tsx";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { say, sayFailure } from "../../ui/toasts.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import { useAuditTail, type AuditRow } from "./use-approvals.ts";

export function AuditTail(): ReactNode {
  const { audit: t, tabs } = useMessages().approvals;
  const { data, error, refetch } = useAuditTail();
  if (data === undefined)
    return error === null ? <Loading rows={8} /> : <Failed error={error} onRetry={() => void refetch()} />;
  if (data.length === 0) return <Empty icon={<ShieldCheck aria-hidden />} title={t.none} />;
  return (
    <div className="audit">
      <div className="audit-head">
        <p className="dim">{t.help}</p>
        <CommandLine command="npx perdure audit" />
        <Verify />
      </div>
      <div className="audit-scroll" tabIndex={0} role="region" aria-label={tabs.audit}>
        <table className="audit-table">
          <thead>
            <tr>
              <th className="numeric">#</th>
              <th>{t.actor}</th>
              <th>{t.action}</th>
              <th>{t.subject}</th>
              <th className="numeric">{t.at}</th>
            </tr>
          </thead>
          <tbody>
            {data.map((row) => (
              <Row key={row.seq} row={row} />
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function Row({ row: { seq, actor, action, subject, at, details } }: { readonly row: AuditRow }): ReactNode {
  const format = useFormat();
  const more = details === undefined ? "" : JSON.stringify(details);
  return (
    <tr>
      <td className="numeric dim">{format.number(seq)}</td>
      <td>{visibleLine(actor)}</td>
      <td className="mono">{visibleLine(action)}</td>
      <td className="audit-subject" title={visibleLine(more)}>
        <span className="cut">{visibleLine(subject)}</span>
        {more === "" ? null : <span className="cut dim">{visibleLine(more)}</span>}
      </td>
      <td className="numeric dim">
        <time dateTime={at}>{format.dateTime(Date.parse(at))}</time>
      </td>
    </tr>
  );
}

function Verify(): ReactNode {
  const t = useMessages().approvals.audit;
  const api = useApi();
  const format = useFormat();
  const [isBusy, setBusy] = useState(false);
  const verify = async (): Promise<void> => {
    setBusy(true);
    try {
      const check = await api.get<AuditCheckAnswer>("/audit", { query: { verify: true } });
      if (check.ok) say(t.intact(check.count));
      else say(t.broken(format.number(check.at), check.why), "bad");
    } catch (error) {
      sayFailure(error);
    }
    setBusy(false);
  };
  return (
    <Button size="s" disabled={isBusy} onClick={() => void verify()}>
      <ShieldCheck aria-hidden />
      {t.verify}
    </Button>
  );
}
