// What the address says of branches: the dialog of a fork or a rewind, and, after a rewind, where the run is kept as it was.

import { X } from "lucide-react";
import type { ReactNode } from "react";
import type { MomentView, RunView } from "@perdure/protocol";
import { useMessages } from "../../i18n/use-messages.ts";
import { Button } from "../../ui/button.tsx";
import { RunLink } from "../../ui/run-link.tsx";
import { ForkDialog } from "./fork-dialog.tsx";
import type { JournalState } from "./journal-reader.ts";
import { RewindDialog } from "./rewind-dialog.tsx";
import type { RunSearch } from "./run-search.ts";

export interface RunBranchProps {
  readonly run: RunView;
  readonly journal: JournalState;
  readonly moments: readonly MomentView[];
  readonly search: RunSearch;
  readonly onSearch: (search: RunSearch) => void;
}

export function RunBranch({ run, journal, moments, search, onSearch }: RunBranchProps): ReactNode {
  const t = useMessages().branches;
  const { act, at = search.entry, branch, ...rest } = search;
  // Before the journal is there, nothing can be said of what would be shared.
  if (act !== undefined && !journal.isLoading) {
    const { entries } = journal;
    const common = { run, entries, moments, at: at ?? entries.length };
    const close = (): void => onSearch({ ...rest, ...(branch === undefined ? {} : { branch }) });
    if (act === "fork") return <ForkDialog {...common} onClose={close} />;
    const { entry: _, ...elsewhere } = rest;
    return <RewindDialog {...common} onClose={close} onRewound={(kept) => onSearch({ ...elsewhere, branch: kept })} />;
  }
  if (branch === undefined) return null;
  return (
    <p className="notice branch-kept" data-tone="violet" role="status">
      <span>
        {t.branchKept} <RunLink id={branch} />
      </span>
      <Button look="ghost" size="s" icon aria-label={t.dismiss} title={t.dismiss} onClick={() => onSearch(rest)}>
        <X aria-hidden />
      </Button>
    </p>
  );
}
