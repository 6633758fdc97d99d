// How a run is remembered: by its journal alone, or by images of its execution under the code that it began with.

import type { ReactNode } from "react";
import type { MomentView, RunSummary } from "@perdure/protocol";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { isBundle } from "../../runs/is-bundle.ts";
import { visibleLine } from "../../ui/visible-text.ts";
import { RunEntryLink } from "./run-entry-link.tsx";
import { Fact } from "./fact.tsx";

const HASH_SHOWN = 10;

export interface RunMemoryProps {
  readonly run: RunSummary;
  readonly moments: readonly MomentView[];
  /** Length of the journal. */
  readonly count: number;
}

export function RunMemory({ run, moments, count }: RunMemoryProps): ReactNode {
  const t = useMessages();
  const says = t.branches.memory;
  const { deployment } = run;
  if (deployment === null || !isBundle(deployment))
    return (
      <>
        <Fact name={says.title}>
          <span title={says.journalHelp}>{says.journal}</span>
        </Fact>
        {deployment === null ? null : <Fact name={t.run.facts.deployment}>{visibleLine(deployment)}</Fact>}
      </>
    );
  return (
    <>
      <Fact name={says.title}>
        <span title={says.snapshotHelp}>{says.snapshot}</span>
      </Fact>
      <Fact name={says.bundle}>
        <code title={`${deployment}\n${says.bundleHelp}`}>{deployment.slice(0, HASH_SHOWN)}</code>
        <CopyButton text={deployment} />
      </Fact>
      <Images run={run} moments={moments} count={count} />
    </>
  );
}

function Images({ run, moments, count }: RunMemoryProps): ReactNode {
  const t = useMessages().branches.memory;
  const format = useFormat();
  const newest = moments.at(-1);
  if (newest === undefined) return <Fact name={t.images}>{t.noImages}</Fact>;
  const size = moments.reduce((sum, one) => sum + one.size, 0);
  return (
    <Fact name={t.images}>
      <span>
        {t.imagesOf(moments.length, format.bytes(size))} ·{" "}
        <RunEntryLink run={run.id} entry={newest.entry}>
          {t.newest(format.number(newest.entry))}
        </RunEntryLink>{" "}
        · {t.tail(Math.max(0, count - newest.entry))}
      </span>
    </Fact>
  );
}
