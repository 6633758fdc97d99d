// The bundles that are stored: of which file, whose runs begin on them, how many have them, how large they are.

import type { ReactNode } from "react";
import { isFinished, RUN_STATUSES, type DeploymentView } from "@perdure/protocol";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Ago } from "../../ui/time.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import { useBundles } from "./use-bundles.ts";

export const HASH_SHOWN = 10;

/** Nothing where no service is remembered by snapshots. */
export function Bundles(): ReactNode {
  const t = useMessages().services.bundles;
  const { data = [] } = useBundles();
  if (data.length === 0) return null;
  return (
    <Panel title={t.title}>
      <table className="deployments">
        <thead>
          <tr>
            <th scope="col">{t.name}</th>
            <th scope="col" className="numeric">
              {t.open}
            </th>
            <th scope="col">{t.state}</th>
          </tr>
        </thead>
        <tbody>
          {data.map((bundle) => (
            <Row key={bundle.hash} bundle={bundle} />
          ))}
        </tbody>
      </table>
      <p className="body dim">{t.help}</p>
    </Panel>
  );
}

function Row({ bundle }: { readonly bundle: DeploymentView }): ReactNode {
  const t = useMessages().services.bundles;
  const format = useFormat();
  const { hash, entry, createdAt, services, bytes, bases } = bundle;
  const size = bases.reduce((sum, base) => sum + base.bytes, bytes);
  return (
    <tr>
      <th scope="row">
        {visibleLine(entry)} <code title={hash}>{hash.slice(0, HASH_SHOWN)}</code>
        <CopyButton text={hash} />
      </th>
      <td className="numeric">{format.number(openRuns(bundle))}</td>
      <td className="dim">
        {services.length === 0 ? t.earlier : t.begins(services.map(visibleLine).join(", "))} · {format.bytes(size)}
        {createdAt === null ? null : (
          <>
            {" "}
            · {t.since} <Ago at={createdAt} />
          </>
        )}
      </td>
    </tr>
  );
}

function openRuns({ runs }: DeploymentView): number {
  return RUN_STATUSES.reduce((sum, status) => sum + (isFinished(status) ? 0 : (runs[status] ?? 0)), 0);
}
