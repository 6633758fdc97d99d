// Deployments, and the open runs that are pinned to each: a run ends with the code that it began with.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { VersionAnswer } from "@perdure/protocol";
import { useApi } from "../../app/app-context.ts";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { useLiveVersion } from "../../live/use-live.ts";
import { Panel } from "../../ui/panel.tsx";
import { isBundle } from "../../runs/is-bundle.ts";
import { Ago } from "../../ui/time.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import { countPinned, PINNED_QUERY, type PinnedRuns } from "./pinned-runs.ts";

/** The count walks through all open runs: not with every event. */
const COUNT_EVERY_MS = 10_000;

export function Deployments(): ReactNode {
  const t = useMessages().services.deployments;
  const api = useApi();
  const version = useLiveVersion(COUNT_EVERY_MS);
  const server = useQuery({
    queryKey: ["version"],
    queryFn: ({ signal }) => api.get<VersionAnswer>("/version", { signal }),
    staleTime: 60_000,
  });
  const pinned = useQuery({
    queryKey: ["deployments", version],
    queryFn: async () => countPinned(await api.post("/sql", { query: PINNED_QUERY })),
    retry: false,
    placeholderData: (before) => before,
  });
  if (server.data === undefined) return null;
  const { deployment, startedAt, version: running, node } = server.data;
  const counts = pinned.data ?? [];
  const others = counts.filter(({ deployment: other }) => other !== deployment && !isBundle(other));
  const own = counts.find(({ deployment: other }) => other === deployment) ?? NONE;
  return (
    <Panel title={t.title}>
      <table className="deployments">
        <thead>
          <tr>
            <th scope="col">{t.name}</th>
            <th scope="col" className="numeric">
              {t.open}
            </th>
            <th scope="col">{t.code}</th>
          </tr>
        </thead>
        <tbody>
          <Row name={deployment === null ? t.unnamed : visibleLine(deployment)} counts={own}>
            {t.serves} · Perdure {running} · Node {node} · {t.since} <Ago at={startedAt} />
          </Row>
          {others.map((other) => (
            <Row
              key={other.deployment ?? ""}
              name={other.deployment === null ? t.notStarted : visibleLine(other.deployment)}
              counts={other}
            >
              {other.deployment === null ? t.notStartedHelp : t.gone}
            </Row>
          ))}
        </tbody>
      </table>
      {deployment === null ? <p className="body dim">{t.unnamedHelp}</p> : null}
    </Panel>
  );
}

const NONE: PinnedRuns = { deployment: null, open: 0, paused: 0 };

interface RowProps {
  readonly name: string;
  readonly counts: PinnedRuns;
  readonly children: ReactNode;
}

function Row({ name, counts, children }: RowProps): ReactNode {
  const t = useMessages().services.deployments;
  const format = useFormat();
  return (
    <tr>
      <th scope="row">{name}</th>
      <td className="numeric">
        {format.number(counts.open)}
        {counts.paused === 0 ? null : (
          <>
            {" "}
            <Link to="/runs" search={{ status: "paused" }} className="warn">
              {t.paused(format.number(counts.paused))}
            </Link>
          </>
        )}
      </td>
      <td className="dim">{children}</td>
    </tr>
  );
}
